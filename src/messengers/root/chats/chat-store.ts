import type { ChatFilter, ChatKind, ChatTopic } from "../../../core/chat/chat.ts";
import type { Database } from "../../../core/store/database.ts";
import { defineTable, integer, openTable, text } from "../../../core/store/table.ts";
import type { RowOf } from "../../../core/store/table.ts";

/**
 * The chats of a bot, in the root. A page reads only its own rows, from the index that its filter needs. The last two
 * indexes hold only chats that are gone, so an event of a known chat writes one row at most.
 */
const CHATS = defineTable(
  "chat_v1",
  {
    messengerId: text("PRIMARY KEY"),
    chatId: text("PRIMARY KEY"),
    kind: text<ChatKind>("NOT NULL"),
    title: text(),
    language: text(),
    userId: text(),
    lastSeenAt: integer("NOT NULL"),
    goneSince: integer(),
    goneCode: text(),
  },
  "STRICT, WITHOUT ROWID",
  {
    chat_person_v1: "(messenger_id, user_id) WHERE user_id IS NOT NULL",
    chat_kind_v1: "(kind, messenger_id, chat_id)",
    chat_gone_v1: "(messenger_id, chat_id) WHERE gone_since IS NOT NULL",
    chat_gone_kind_v1: "(kind, messenger_id, chat_id) WHERE gone_since IS NOT NULL",
  },
);
const TOPICS = defineTable("topic_v1", {
  messengerId: text("PRIMARY KEY"),
  chatId: text("PRIMARY KEY"),
  topicId: text("PRIMARY KEY"),
  name: text(),
  lastSeenAt: integer("NOT NULL"),
});

export type StoredChat = RowOf<typeof CHATS>;

/** Place of a chat in the order of pages. */
export type ChatKey = Pick<StoredChat, "messengerId" | "chatId">;

export interface ChatStore {
  /** Returns the number of chats. */
  count(): number;
  get(key: ChatKey): StoredChat | undefined;
  put(chat: StoredChat): void;
  /** Returns the private chat of a person that was seen last. */
  ofPerson(messengerId: string, userId: string): StoredChat | undefined;
  /** Returns the chat whose id begins with this text, the last seen one of several. */
  beginningWith(messengerId: string, beginning: string): StoredChat | undefined;
  topic(key: ChatKey, topicId: string): ChatTopic | undefined;
  putTopic(key: ChatKey, topic: ChatTopic): void;
  /** Returns the topics of a chat, the last seen first. */
  topics(key: ChatKey, limit: number): ChatTopic[];
  /** Renames a chat. A chat that has the new id already stays as it is. */
  rename(messengerId: string, fromId: string, toId: string): void;
  page(filter: ChatFilter, after: ChatKey | undefined, limit: number): StoredChat[];
}

export function createChatStore(database: Database): ChatStore {
  const chats = openTable(database, CHATS);
  const topics = openTable(database, TOPICS);
  return {
    count: () => database.all<{ count: number }>("SELECT COUNT(*) AS count FROM chat_v1")[0]?.count ?? 0,
    get: ({ chatId, messengerId }) =>
      chats.first("WHERE messenger_id = ? AND chat_id = ?", messengerId, chatId),
    put: (chat) => chats.put(chat),
    ofPerson: (messengerId, userId) =>
      chats.first(
        "INDEXED BY chat_person_v1 WHERE messenger_id = ? AND user_id = ? ORDER BY last_seen_at DESC LIMIT 1",
        messengerId,
        userId,
      ),
    beginningWith: (messengerId, beginning) =>
      chats.first(
        "WHERE messenger_id = ? AND chat_id >= ? AND chat_id < ? ORDER BY last_seen_at DESC LIMIT 1",
        messengerId,
        beginning,
        `${beginning}\u{10FFFF}`,
      ),
    topic({ chatId, messengerId }, topicId) {
      const where = "WHERE messenger_id = ? AND chat_id = ? AND topic_id = ?";
      const topic = topics.first(where, messengerId, chatId, topicId);
      return topic && topicOf(topic);
    },
    putTopic: ({ chatId, messengerId }, { lastSeenAt, name, topicId }) =>
      topics.put({ messengerId, chatId, topicId, name, lastSeenAt }),
    topics: ({ chatId, messengerId }, limit) =>
      topics
        .all(
          "WHERE messenger_id = ? AND chat_id = ? ORDER BY last_seen_at DESC, topic_id LIMIT ?",
          messengerId,
          chatId,
          limit,
        )
        .map(topicOf),
    rename(messengerId, fromId, toId) {
      database.transaction(() => {
        for (const table of ["chat_v1", "topic_v1"]) {
          database.run(
            `UPDATE OR IGNORE ${table} SET chat_id = ? WHERE messenger_id = ? AND chat_id = ?`,
            toId,
            messengerId,
            fromId,
          );
          database.run(`DELETE FROM ${table} WHERE messenger_id = ? AND chat_id = ?`, messengerId, fromId);
        }
      });
    },
    page({ isGone, kind, messengerId }, after, limit) {
      const conditions: string[] = [];
      const bindings: (string | number)[] = [];
      const where = (condition: string, ...values: readonly string[]): void => {
        conditions.push(condition);
        bindings.push(...values);
      };
      if (kind !== undefined) where("kind = ?", kind);
      if (messengerId === undefined) {
        if (after !== undefined) where("(messenger_id, chat_id) > (?, ?)", after.messengerId, after.chatId);
      } else {
        where("messenger_id = ?", messengerId);
        if (after !== undefined) where("chat_id > ?", after.chatId);
      }
      if (isGone !== undefined) where(isGone ? "gone_since IS NOT NULL" : "gone_since IS NULL");
      const filter = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      return chats.all(
        `${indexFor(kind, isGone)} ${filter} ORDER BY messenger_id, chat_id LIMIT ?`,
        ...bindings,
        limit,
      );
    },
  };
}

/** Returns the index for a filter. Without a hint SQLite may choose an index that makes it sort all rows. */
function indexFor(kind: ChatKind | undefined, isGone: boolean | undefined): string {
  if (isGone === true) return `INDEXED BY ${kind === undefined ? "chat_gone_v1" : "chat_gone_kind_v1"}`;
  return kind === undefined ? "NOT INDEXED" : "INDEXED BY chat_kind_v1";
}

function topicOf({ lastSeenAt, name, topicId }: RowOf<typeof TOPICS>): ChatTopic {
  return { topicId, lastSeenAt, ...(name !== undefined && { name }) };
}
