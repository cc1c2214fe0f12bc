import type { ReplyStart } from "../../src/core/chat/delivery.ts";
import type { WholeReply } from "./reply-body.ts";
import type { ReplyRecord } from "./reply-store.ts";

/** Returns the record of a reply that begins. A text makes it whole at once, and a notice unless it waits for answers. */
export function newRecord(
  {
    address,
    id,
    policy,
    replyTo,
    seenMessageId,
    waitsForAnswer = false,
    isAside = false,
    isAwaited = false,
  }: ReplyStart,
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
    isNotice: isAside || (text !== undefined && !waitsForAnswer),
    state: text === undefined ? "streaming" : "final",
    text,
    openedAt,
    seenMessageId,
    content: body?.kind === "card" ? "card" : "text",
    body,
    options,
    isAwaited,
  };
}
