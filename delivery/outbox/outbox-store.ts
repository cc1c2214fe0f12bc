import { z } from "zod";
import type { Database } from "../../src/core/database.ts";
import type { OutboxState } from "../../src/core/delivery.ts";
import type { Address } from "../../src/core/surface.ts";
import { addMissingColumns } from "../../src/core/add-missing-columns.ts";
import { parseDoubt } from "./doubt.ts";
import type { Doubt } from "./doubt.ts";
import { parseAddress } from "../../src/core/stored-address.ts";

const stateSchema = z.enum([
  "planned",
  "sending",
  "sent",
  "unknown",
  "removed",
  "failed",
]) satisfies z.ZodType<OutboxState>;

const SCHEMA = `CREATE TABLE IF NOT EXISTS outbox_v1 (
  reply_id TEXT NOT NULL,
  part INTEGER NOT NULL,
  state TEXT NOT NULL,
  message_id TEXT,
  shown_hash TEXT,
  is_marked INTEGER NOT NULL,
  is_replacement INTEGER NOT NULL,
  doubts INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  code TEXT,
  failing_since INTEGER,
  retry_at INTEGER,
  sent_at INTEGER,
  former_chat_id TEXT,
  doubt TEXT,
  shape TEXT,
  more_ids TEXT,
  is_leaving INTEGER,
  PRIMARY KEY (reply_id, part)
) WITHOUT ROWID`;

/** One message of a reply, as stored. Holds no text. */
export interface OutboxRow {
  readonly replyId: string;
  /** Index of the part in the reply, from 0. Negative for a surplus message, which is removed again. */
  readonly part: number;
  readonly state: OutboxState;
  readonly messageId?: string | undefined;
  /** For an album, the ids of its messages after the first. */
  readonly moreIds?: readonly string[] | undefined;
  /** Hash of the last content that is known to be visible and need not be sent again. */
  readonly shownHash?: string | undefined;
  /** True if the message was posted again after an unknown outcome. Its text begins with the mark. */
  readonly isMarked: boolean;
  /**
   * True if the message was posted again because the first one could no longer be edited before it was whole, usually
   * because a person deleted it.
   */
  readonly isReplacement: boolean;
  /** Number of posts of this row that ended without an answer. */
  readonly doubts: number;
  /** Number of posts that were begun, plus other calls that failed. */
  readonly attempts: number;
  readonly code?: string | undefined;
  /** Epoch milliseconds of the first failure of the call that is being retried. */
  readonly failingSince?: number | undefined;
  /** Epoch milliseconds before which the row is not tried again. */
  readonly retryAt?: number | undefined;
  /** Time at which the message was first known to exist, in epoch milliseconds. */
  readonly sentAt?: number | undefined;
  /**
   * The chat of the message, if its reply continues in another chat. The message can no longer be edited or removed.
   */
  readonly formerChatId?: string | undefined;
  /**
   * The state of the last post while its outcome is unknown. Only on platforms where lost posts can be searched for.
   */
  readonly doubt?: Doubt | undefined;
  /** True if a removal of the message has begun. If it is missing later, the bot itself may have removed it. */
  readonly isLeaving?: boolean | undefined;
  /** Form of a message that is not a text. An edit cannot change it. */
  readonly shape?: "image" | undefined;
}

type Stored = {
  reply_id: string;
  part: number;
  state: string;
  message_id: string | null;
  shown_hash: string | null;
  is_marked: number;
  is_replacement: number;
  doubts: number;
  attempts: number;
  code: string | null;
  failing_since: number | null;
  retry_at: number | null;
  sent_at: number | null;
  former_chat_id: string | null;
  doubt: string | null;
  shape: string | null;
  more_ids: string | null;
  is_leaving: number | null;
};

/** Ids of a row's messages: one, or those of an album. */
const IDS =
  "json_each(CASE WHEN more_ids IS NULL THEN json_array(message_id) ELSE json_insert(more_ids, '$[#]', message_id) END) AS ids";
const moreIdsSchema = z.array(z.string());

export class OutboxStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.run(SCHEMA);
    addMissingColumns(database, "outbox_v1", {
      sent_at: "INTEGER",
      doubt: "TEXT",
      former_chat_id: "TEXT",
      shape: "TEXT",
      more_ids: "TEXT",
      is_leaving: "INTEGER",
    });
  }

  rowsOf(replyId: string): OutboxRow[] {
    return this.#database
      .all<Stored>("SELECT * FROM outbox_v1 WHERE reply_id = ? ORDER BY part", replyId)
      .map(rowOf);
  }

  write(row: OutboxRow): void {
    this.#database.run(
      `INSERT INTO outbox_v1 (reply_id, part, state, message_id, shown_hash, is_marked, is_replacement, doubts,
         attempts, code, failing_since, retry_at, sent_at, doubt,
         former_chat_id, shape, more_ids, is_leaving)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (reply_id, part) DO UPDATE SET state = excluded.state, message_id = excluded.message_id,
         shown_hash = excluded.shown_hash, is_marked = excluded.is_marked,
         is_replacement = excluded.is_replacement, doubts = excluded.doubts, attempts = excluded.attempts,
         code = excluded.code, failing_since = excluded.failing_since, retry_at = excluded.retry_at,
         sent_at = excluded.sent_at, doubt = excluded.doubt, former_chat_id = excluded.former_chat_id,
         shape = excluded.shape, more_ids = excluded.more_ids, is_leaving = excluded.is_leaving`,
      row.replyId,
      row.part,
      row.state,
      row.messageId ?? null,
      row.shownHash ?? null,
      row.isMarked ? 1 : 0,
      row.isReplacement ? 1 : 0,
      row.doubts,
      row.attempts,
      row.code ?? null,
      row.failingSince ?? null,
      row.retryAt ?? null,
      row.sentAt ?? null,
      row.doubt === undefined ? null : JSON.stringify(row.doubt),
      row.formerChatId ?? null,
      row.shape ?? null,
      row.moreIds === undefined ? null : JSON.stringify(row.moreIds),
      row.isLeaving === true ? 1 : null,
    );
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

function rowOf(stored: Stored): OutboxRow {
  return {
    replyId: stored.reply_id,
    part: stored.part,
    state: stateSchema.parse(stored.state),
    messageId: stored.message_id ?? undefined,
    moreIds: stored.more_ids === null ? undefined : moreIdsSchema.parse(JSON.parse(stored.more_ids)),
    shownHash: stored.shown_hash ?? undefined,
    isMarked: stored.is_marked === 1,
    isReplacement: stored.is_replacement === 1,
    doubts: stored.doubts,
    attempts: stored.attempts,
    code: stored.code ?? undefined,
    failingSince: stored.failing_since ?? undefined,
    retryAt: stored.retry_at ?? undefined,
    sentAt: stored.sent_at ?? undefined,
    doubt: stored.doubt === null ? undefined : parseDoubt(stored.doubt),
    formerChatId: stored.former_chat_id ?? undefined,
    shape: stored.shape === "image" ? "image" : undefined,
    ...(stored.is_leaving === 1 && { isLeaving: true }),
  };
}

/** Returns the ids of the newest messages of a thread, which an earlier process may not have reported to the gate. */
export function recentIds(outbox: OutboxStore, address: Address, since: number): readonly number[] {
  return outbox
    .sentInto(address, { since })
    .filter(({ threadId }) => threadId === address.threadId)
    .map(({ id }) => id);
}
