import type { ChatMove } from "../core/chat/chat-move.ts";
import type { Database } from "../core/store/database.ts";
import { defineTable, flag, integer, lazyTable, text } from "../core/store/table.ts";
import type { Address } from "../core/chat/surface.ts";
import type { Subscriber } from "../core/turn/broadcast.ts";

/** Chats, or topics of chats, that have subscribed to the bot's broadcasts. In the root. */
const SUBSCRIBERS = defineTable("subscriber_v1", {
  messengerId: text("PRIMARY KEY"),
  threadId: text("PRIMARY KEY"),
  chatId: text("NOT NULL"),
  topicId: text(),
  isDirect: flag("NOT NULL"),
  since: integer("NOT NULL"),
});

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

/** Creates the store. Its table is made with the first subscription. */
export function createSubscriberStore(database: Database): SubscriberStore {
  const subscribers = lazyTable(database, SUBSCRIBERS);
  return {
    add: ({ isDirectMessage, ...address }, now) =>
      subscribers.insertNew({ ...address, isDirect: isDirectMessage, since: now }) !== undefined,
    remove({ messengerId, threadId }) {
      const removed = subscribers.query(
        "DELETE FROM subscriber_v1 WHERE messenger_id = ? AND thread_id = ? RETURNING since",
        messengerId,
        threadId,
      );
      return removed.length > 0;
    },
    has: ({ messengerId, threadId }) =>
      subscribers.first("WHERE messenger_id = ? AND thread_id = ?", messengerId, threadId) !== undefined,
    page: (after, limit) =>
      subscribers
        .all(
          "WHERE (messenger_id, thread_id) > (?, ?) ORDER BY messenger_id, thread_id LIMIT ?",
          after?.messengerId ?? "",
          after?.threadId ?? "",
          limit,
        )
        .map(({ isDirect, since, topicId, ...address }) => ({
          address: { ...address, ...(topicId !== undefined && { topicId }), isDirectMessage: isDirect },
          since,
        })),
    move(messengerId, { from, to }) {
      if (subscribers.first("LIMIT 1") === undefined) return;
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
