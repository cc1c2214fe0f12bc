import type { DeliveryPolicy, ReplyStart } from "../../core/chat/delivery.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { Address } from "../../core/chat/surface.ts";
import { replyPolicy } from "../declare/texts.ts";

/** One reply of a turn. The answer to a prompt may go to several chats, each with a reply of its own. */
export interface ReplyTarget {
  readonly replyId: string;
  readonly address: Address;
  /** The message that is answered. Undefined if the bot's own code began the turn. */
  readonly event: MessengerEvent | undefined;
  /** The withdrawn reply whose visible messages this one takes over. */
  readonly takesOver?: string | undefined;
  /** Whether a person waits for it: see `ReplyStart.isAwaited`. */
  readonly isAwaited: boolean;
}

/** Returns the reply of a turn in the form in which the delivery begins it. */
export function replyStartOf(target: ReplyTarget, policy: DeliveryPolicy): ReplyStart {
  const { address, event, replyId, takesOver, isAwaited } = target;
  // Message ids from before a chat moved mean other messages now.
  const messageId = event?.thread.formerChatId === undefined ? event?.message?.id : undefined;
  return {
    id: replyId,
    address,
    policy: replyPolicy(policy),
    isAwaited,
    ...(event !== undefined && repliesTo(policy, event) && { replyTo: messageId }),
    ...(messageId !== undefined && { seenMessageId: messageId }),
    ...(takesOver !== undefined && { takesOver }),
  };
}

function repliesTo(policy: DeliveryPolicy, event: MessengerEvent): boolean {
  const when = policy.replyTo ?? "groups";
  return when === "always" || (when === "groups" && !event.thread.isDirectMessage);
}
