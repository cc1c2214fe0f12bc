import { z } from "zod";
import type { Database } from "../../src/core/store/database.ts";
import type { OutboxState } from "../../src/core/chat/delivery.ts";
import type { Address } from "../../src/core/chat/surface.ts";
import {
  added,
  checked,
  defineTable,
  encoded,
  flag,
  integer,
  json,
  openTable,
  text,
} from "../../src/core/store/table.ts";
import type { NewRowOf, Table } from "../../src/core/store/table.ts";
import { parseDoubt } from "./doubt.ts";
import type { Doubt } from "./doubt.ts";
import { parseAddress } from "../../src/core/chat/stored-address.ts";

const stateSchema = z.enum([
  "planned",
  "sending",
  "sent",
  "unknown",
  "removed",
  "failed",
]) satisfies z.ZodType<OutboxState>;

/** One message of a reply, as stored. Holds no text. */
const MESSAGES = defineTable(
  "outbox_v1",
  {
    replyId: text("PRIMARY KEY"),
    /** Index of the part in the reply, from 0. Negative for a surplus message, which is removed again. */
    part: integer("PRIMARY KEY"),
    state: checked(stateSchema)("NOT NULL"),
    messageId: text(),
    /** Hash of the last content that is known to be visible and need not be sent again. */
    shownHash: text(),
    /** True if the message was posted again after an unknown outcome. Its text begins with the mark. */
    isMarked: flag("NOT NULL"),
    /**
     * True if the message was posted again because the first one could no longer be edited before it was whole, usually
     * because a person deleted it.
     */
    isReplacement: flag("NOT NULL"),
    /** Number of posts of this row that ended without an answer. */
    doubts: integer("NOT NULL"),
    /** Number of posts that were begun, plus other calls that failed. */
    attempts: integer("NOT NULL"),
    code: text(),
    /** Epoch milliseconds of the first failure of the call that is being retried. */
    failingSince: integer(),
    /** Epoch milliseconds before which the row is not tried again. */
    retryAt: integer(),
    /** Time at which the message was first known to exist, in epoch milliseconds. */
    sentAt: added(integer()),
    /**
     * The chat of the message, if its reply continues in another chat. The message can no longer be edited or removed.
     */
    formerChatId: added(text()),
    /**
     * The state of the last post while its outcome is unknown. Only on platforms where lost posts can be searched for.
     */
    doubt: added(encoded<Doubt>(parseDoubt)()),
    /** Form of a message that is not a text. An edit cannot change it. */
    shape: added(text<"image">()),
    /** For an album, the ids of its messages after the first. */
    moreIds: added(json<readonly string[]>(z.array(z.string()))()),
    /** True if a removal of the message has begun. If it is missing later, the bot itself may have removed it. */
    isLeaving: added(flag()),
  },
  "WITHOUT ROWID",
);

export type OutboxRow = NewRowOf<typeof MESSAGES>;

/** Ids of a row's messages: one, or those of an album. */
const IDS =
  "json_each(CASE WHEN more_ids IS NULL THEN json_array(message_id) ELSE json_insert(more_ids, '$[#]', message_id) END) AS ids";

export class OutboxStore {
  readonly #database: Database;
  readonly #messages: Table<typeof MESSAGES>;

  constructor(database: Database) {
    this.#database = database;
    this.#messages = openTable(database, MESSAGES);
  }

  rowsOf(replyId: string): OutboxRow[] {
    return this.#messages.all("WHERE reply_id = ? ORDER BY part", replyId);
  }

  write(row: OutboxRow): void {
    this.#messages.put(row);
  }

  /**
   * Returns those of the message ids that belong to a row, with the address of its reply. Reads the whole table once.
   */
  owners(messageIds: readonly string[]): { readonly messageId: string; readonly address: Address }[] {
    if (messageIds.length === 0) return [];
    return this.#database
      .all<{ message_id: string; address: string }>(
        `SELECT ids.value AS message_id, address
         FROM outbox_v1 JOIN reply_v1 ON reply_v1.id = outbox_v1.reply_id, ${IDS}
         WHERE former_chat_id IS NULL AND ids.value IN (SELECT value FROM json_each(?))`,
        JSON.stringify(messageIds),
      )
      .map(({ message_id: messageId, address }) => ({ messageId, address: parseAddress(address) }));
  }

  /** Whether a message of a chat belongs to a row. Reads the whole table once. */
  has({ messengerId, chatId }: Pick<Address, "messengerId" | "chatId">, messageId: string): boolean {
    return this.owners([messageId]).some(
      ({ address }) => address.messengerId === messengerId && address.chatId === chatId,
    );
  }

  /**
   * Returns the numeric ids of messages that were sent into a chat, above `afterId` or since a time. Reads the table
   * once.
   */
  sentInto(
    { messengerId, chatId }: Pick<Address, "messengerId" | "chatId">,
    { afterId = 0, since = 0 }: { readonly afterId?: number; readonly since?: number },
  ): { readonly id: number; readonly threadId: string }[] {
    return this.#database
      .all<{ message_id: string; address: string }>(
        `SELECT ids.value AS message_id, address
         FROM outbox_v1 JOIN reply_v1 ON reply_v1.id = outbox_v1.reply_id, ${IDS}
         WHERE former_chat_id IS NULL AND CAST(ids.value AS INTEGER) > ? AND COALESCE(sent_at, 0) >= ?`,
        afterId,
        since,
      )
      .map(({ message_id: id, address }) => ({ id: Number(id), address: parseAddress(address) }))
      .filter(({ address }) => address.messengerId === messengerId && address.chatId === chatId)
      .map(({ id, address }) => ({ id, threadId: address.threadId }));
  }

  /**
   * Returns the threads of a chat whose last reply since a time ended with a post that may have been made. A message
   * that was sent into the chat later has a higher id, so the lost one cannot be taken for another.
   */
  lostInto(chat: Pick<Address, "messengerId" | "chatId">, since: number): readonly string[] {
    const lost = this.#database
      .all<{ ended_at: number; address: string }>(
        `SELECT ended_at, address FROM outbox_v1 JOIN reply_v1 ON reply_v1.id = outbox_v1.reply_id
         WHERE outbox_v1.state = 'unknown' AND former_chat_id IS NULL AND ended_at >= ?`,
        since,
      )
      .map((row) => ({ endedAt: row.ended_at, address: parseAddress(row.address) }))
      .filter(({ address }) => address.messengerId === chat.messengerId && address.chatId === chat.chatId);
    return lost
      .filter(({ endedAt }) => this.sentInto(chat, { since: endedAt }).length === 0)
      .map(({ address }) => address.threadId);
  }

  delete(row: OutboxRow): void {
    this.#database.run("DELETE FROM outbox_v1 WHERE reply_id = ? AND part = ?", row.replyId, row.part);
  }

  deleteOf(replyId: string): void {
    this.#database.run("DELETE FROM outbox_v1 WHERE reply_id = ?", replyId);
  }
}

/** Returns the ids of the newest messages of a thread, which an earlier process may not have reported to the gate. */
export function recentIds(outbox: OutboxStore, address: Address, since: number): readonly number[] {
  return outbox
    .sentInto(address, { since })
    .filter(({ threadId }) => threadId === address.threadId)
    .map(({ id }) => id);
}
