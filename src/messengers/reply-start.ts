import type { DeliveryPolicy, ReplyStart } from "../core/delivery.ts";
import type { MessengerEvent } from "../core/messenger-event.ts";
import type { Turn } from "../turn/turn-store.ts";
import { replyPolicy } from "./texts.ts";

/** The reply of a turn, as the delivery begins it. */
export function replyStartOf(turn: Turn, policy: DeliveryPolicy): ReplyStart {
  return {
    id: turn.id,
    address: turn.address,
    policy: replyPolicy(policy),
    ...(repliesTo(policy, turn.context) && { replyTo: turn.context.message?.id }),
    ...(turn.context.message !== undefined && { seenMessageId: turn.context.message.id }),
    ...(turn.replaces !== undefined && { takesOver: turn.replaces }),
  };
}

function repliesTo(policy: DeliveryPolicy, event: MessengerEvent): boolean {
  const when = policy.replyTo ?? "groups";
  return when === "always" || (when === "groups" && !event.thread.isDirectMessage);
}
