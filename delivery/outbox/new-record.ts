import type { ReplyStart, SendOptions } from "../../src/core/delivery.ts";
import type { ReplyBody } from "./reply-body.ts";
import type { ReplyRecord } from "./reply-store.ts";

/** What makes a reply whole from its start. */
export interface Whole {
  readonly text?: string | undefined;
  readonly body?: ReplyBody | undefined;
  readonly options?: SendOptions | undefined;
}

/** Returns the record of a reply that begins. A text makes it a notice, whole at once. */
export function newRecord(
  { address, id, policy, replyTo, seenMessageId }: ReplyStart,
  { body, options, text }: Whole,
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
