import type { ReplyStart } from "../../src/core/delivery.ts";
import type { WholeReply } from "./reply-body.ts";
import type { ReplyRecord } from "./reply-store.ts";

/** Returns the record of a reply that begins. A text makes it a notice, whole at once. */
export function newRecord(
  { address, id, policy, replyTo, seenMessageId }: ReplyStart,
  { body, options, text }: WholeReply,
  position: number,
  openedAt: number,
): ReplyRecord {
  return {
    id,
    position,
    address,
    replyTo,
    policy,
    isNotice: text !== undefined,
    state: text === undefined ? "streaming" : "final",
    text,
    openedAt,
    seenMessageId,
    content: body?.kind === "card" ? "card" : "text",
    body,
    options,
  };
}
