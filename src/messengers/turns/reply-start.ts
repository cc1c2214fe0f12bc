import type { DeliveryPolicy, ReplyStart } from "../../core/delivery.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";
import type { Turn } from "../../turn/turn-store.ts";
import { replyPolicy } from "../declare/texts.ts";

/** Returns the start of a turn's reply for the delivery. */
export function replyStartOf(turn: Turn, policy: DeliveryPolicy): ReplyStart {
  const { message, thread } = turn.context;
  // A message from before the chat moved has an id that means another message here.
  const messageId = thread.formerChatId === undefined ? message?.id : undefined;
  return {
    id: turn.id,
    address: turn.address,
    policy: replyPolicy(policy),
    ...(repliesTo(policy, turn.context) && { replyTo: messageId }),
    ...(messageId !== undefined && { seenMessageId: messageId }),
    ...(turn.replaces !== undefined && { takesOver: turn.replaces }),
  };
}

function repliesTo(policy: DeliveryPolicy, event: MessengerEvent): boolean {
  const when = policy.replyTo ?? "groups";
  return when === "always" || (when === "groups" && !event.thread.isDirectMessage);
}
