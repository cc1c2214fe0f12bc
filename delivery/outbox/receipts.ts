import type { DeliveryFilter, DeliveryReceipt } from "../../src/core/chat/delivery.ts";
import type { OutboxStore } from "./outbox-store.ts";
import type { ReplyRecord, ReplyStore } from "./reply-store.ts";

const DEFAULT_LIMIT = 100;
const MOST = 1_000;

/** Makes receipts of replies from the stored rows. Receipts hold no text (I10). */
export class Receipts {
  readonly #replies: ReplyStore;
  readonly #outbox: OutboxStore;

  constructor(replies: ReplyStore, outbox: OutboxStore) {
    this.#replies = replies;
    this.#outbox = outbox;
  }

  get(replyId: string): DeliveryReceipt | undefined {
    const record = this.#replies.read(replyId);
    return record === undefined ? undefined : this.#of(record);
  }

  /** Returns the receipts, newest first. */
  list({ state, since = 0, limit = DEFAULT_LIMIT }: DeliveryFilter): DeliveryReceipt[] {
    const most = Math.min(Math.max(0, Math.floor(limit)), MOST);
    return this.#replies.newest({ state, since, limit: most }).map((record) => this.#of(record));
  }

  #of({ id, address, state, code, openedAt, endedAt }: ReplyRecord): DeliveryReceipt {
    const { messengerId, threadId } = address;
    return {
      replyId: id,
      messengerId,
      threadId,
      state,
      ...(code !== undefined && { code }),
      createdAt: openedAt,
      ...(endedAt !== undefined && { endedAt }),
      messages: this.#outbox.rowsOf(id).map((row) => ({
        part: row.part,
        state: row.state,
        ...(row.messageId !== undefined && { messageId: row.messageId }),
        ...(row.messageId !== undefined &&
          row.moreIds !== undefined && { messageIds: [row.messageId, ...row.moreIds] }),
        ...(row.code !== undefined && { code: row.code }),
        attempts: row.attempts,
        ...(row.sentAt !== undefined && { sentAt: row.sentAt }),
      })),
    };
  }
}
