import type { ChatMove } from "../core/chat-move.ts";
import type { Database } from "../core/database.ts";
import { LazyTables } from "../core/lazy-tables.ts";
import type { Address } from "../core/surface.ts";
import type { Subscriber } from "../core/broadcast.ts";

/** Chats, or topics of chats, that have subscribed to the bot's broadcasts. In the root. */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS subscriber_v1 (
  messenger_id TEXT NOT NULL, thread_id TEXT NOT NULL, chat_id TEXT NOT NULL, topic_id TEXT, is_direct INTEGER NOT NULL,
  since INTEGER NOT NULL, PRIMARY KEY (messenger_id, thread_id)
) STRICT, WITHOUT ROWID`;

/** Place of a subscriber in the order of pages. */
export type SubscriberKey = Pick<Address, "messengerId" | "threadId">;

export interface SubscriberStore {
  /** Returns `false` if the address has subscribed already. */
  add(address: Address, now: number): boolean;
  /** Returns `false` if the address has not subscribed. */
  remove(address: SubscriberKey): boolean;
  has(address: SubscriberKey): boolean;
  page(after: SubscriberKey | undefined, limit: number): Subscriber[];
  /** Gives a chat's subscription its new address. */
  move(messengerId: string, move: ChatMove): void;
}

type Row = {
  messenger_id: string;
  thread_id: string;
  chat_id: string;
  topic_id: string | null;
  is_direct: number;
  since: number;
};

/** Creates the store. Its table is made with the first subscription. */
export function createSubscriberStore(database: Database): SubscriberStore {
  const tables = new LazyTables(database, { table: "subscriber_v1", schema: [SCHEMA] });
  return {
    add({ chatId, isDirectMessage, messengerId, threadId, topicId }, now) {
      tables.make();
      const added = database.all(
        "INSERT OR IGNORE INTO subscriber_v1 VALUES (?, ?, ?, ?, ?, ?) RETURNING since",
        messengerId,
        threadId,
        chatId,
        topicId ?? null,
        isDirectMessage ? 1 : 0,
        now,
      );
      return added.length > 0;
    },
    remove({ messengerId, threadId }) {
      const removed = tables.all(
        "DELETE FROM subscriber_v1 WHERE messenger_id = ? AND thread_id = ? RETURNING since",
        messengerId,
        threadId,
      );
      return removed.length > 0;
    },
    has: ({ messengerId, threadId }) =>
      tables.all(
        "SELECT since FROM subscriber_v1 WHERE messenger_id = ? AND thread_id = ?",
        messengerId,
        threadId,
      ).length > 0,
    page(after, limit) {
      return tables
        .all<Row>(
          `SELECT * FROM subscriber_v1 WHERE (messenger_id, thread_id) > (?, ?)
           ORDER BY messenger_id, thread_id LIMIT ?`,
          after?.messengerId ?? "",
          after?.threadId ?? "",
          limit,
        )
        .map((row) => ({
          address: {
            messengerId: row.messenger_id,
            threadId: row.thread_id,
            chatId: row.chat_id,
            ...(row.topic_id !== null && { topicId: row.topic_id }),
            isDirectMessage: row.is_direct === 1,
          },
          since: row.since,
        }));
    },
    move(messengerId, { from, to }) {
      if (!tables.ready()) return;
      database.transaction(() => {
        database.run(
          "UPDATE OR IGNORE subscriber_v1 SET thread_id = ?, chat_id = ? WHERE messenger_id = ? AND thread_id = ?",
          to.threadId,
          to.chatId,
          messengerId,
          from.threadId,
        );
        database.run(
          "DELETE FROM subscriber_v1 WHERE messenger_id = ? AND thread_id = ?",
          messengerId,
          from.threadId,
        );
      });
    },
  };
}
