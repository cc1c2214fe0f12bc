import type { ChatFilter, ChatKind, ChatTopic } from "../../core/chat.ts";
import { firstRow } from "../../core/database.ts";
import type { Database } from "../../core/database.ts";

/**
 * The chats of a bot, in the root. A page reads only its own rows, from the index that its filter needs. The last two
 * indexes hold only chats that are gone, so an event of a known chat writes one row at most.
 */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS chat_v1 (
    messenger_id TEXT NOT NULL, chat_id TEXT NOT NULL, kind TEXT NOT NULL, title TEXT, language TEXT, user_id TEXT,
    last_seen_at INTEGER NOT NULL, gone_since INTEGER, gone_code TEXT, PRIMARY KEY (messenger_id, chat_id)
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS chat_person_v1 ON chat_v1 (messenger_id, user_id) WHERE user_id IS NOT NULL",
  "CREATE INDEX IF NOT EXISTS chat_kind_v1 ON chat_v1 (kind, messenger_id, chat_id)",
  "CREATE INDEX IF NOT EXISTS chat_gone_v1 ON chat_v1 (messenger_id, chat_id) WHERE gone_since IS NOT NULL",
  "CREATE INDEX IF NOT EXISTS chat_gone_kind_v1 ON chat_v1 (kind, messenger_id, chat_id) WHERE gone_since IS NOT NULL",
  `CREATE TABLE IF NOT EXISTS topic_v1 (
    messenger_id TEXT NOT NULL, chat_id TEXT NOT NULL, topic_id TEXT NOT NULL, name TEXT, last_seen_at INTEGER NOT NULL,
    PRIMARY KEY (messenger_id, chat_id, topic_id)
  ) STRICT, WITHOUT ROWID`,
];

export interface StoredChat {
  readonly messengerId: string;
  readonly chatId: string;
  readonly kind: ChatKind;
  readonly title: string | undefined;
  readonly language: string | undefined;
  readonly userId: string | undefined;
  readonly lastSeenAt: number;
  readonly goneSince: number | undefined;
  readonly goneCode: string | undefined;
}

/** Place of a chat in the order of pages. */
export type ChatKey = Pick<StoredChat, "messengerId" | "chatId">;

export interface ChatStore {
  /** Returns the number of chats. */
  count(): number;
  get(key: ChatKey): StoredChat | undefined;
  put(chat: StoredChat): void;
  /** Returns the private chat of a person that was seen last. */
  ofPerson(messengerId: string, userId: string): StoredChat | undefined;
  topic(key: ChatKey, topicId: string): ChatTopic | undefined;
  putTopic(key: ChatKey, topic: ChatTopic): void;
  /** Returns the topics of a chat, the last seen first. */
  topics(key: ChatKey, limit: number): ChatTopic[];
  /** Renames a chat. A chat that has the new id already stays as it is. */
  rename(messengerId: string, fromId: string, toId: string): void;
  page(filter: ChatFilter, after: ChatKey | undefined, limit: number): StoredChat[];
}

type Row = {
  messenger_id: string;
  chat_id: string;
  kind: string;
  title: string | null;
  language: string | null;
  user_id: string | null;
  last_seen_at: number;
  gone_since: number | null;
  gone_code: string | null;
};

type TopicRow = { topic_id: string; name: string | null; last_seen_at: number };

export function createChatStore(database: Database): ChatStore {
  for (const statement of SCHEMA) database.run(statement);
  return {
    count: () =>
      firstRow(database.all<{ count: number }>("SELECT COUNT(*) AS count FROM chat_v1"))?.count ?? 0,
    get({ chatId, messengerId }) {
      const row = firstRow(
        database.all<Row>(
          "SELECT * FROM chat_v1 WHERE messenger_id = ? AND chat_id = ?",
          messengerId,
          chatId,
        ),
      );
      return row && chatOf(row);
    },
    put(chat) {
      database.run(
        `INSERT INTO chat_v1 (messenger_id, chat_id, kind, title, language, user_id, last_seen_at, gone_since, gone_code)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (messenger_id, chat_id) DO UPDATE SET kind = excluded.kind, title = excluded.title,
           language = excluded.language, user_id = excluded.user_id, last_seen_at = excluded.last_seen_at,
           gone_since = excluded.gone_since, gone_code = excluded.gone_code`,
        chat.messengerId,
        chat.chatId,
        chat.kind,
        chat.title ?? null,
        chat.language ?? null,
        chat.userId ?? null,
        chat.lastSeenAt,
        chat.goneSince ?? null,
        chat.goneCode ?? null,
      );
    },
    ofPerson(messengerId, userId) {
      const row = firstRow(
        database.all<Row>(
          `SELECT * FROM chat_v1 INDEXED BY chat_person_v1 WHERE messenger_id = ? AND user_id = ?
           ORDER BY last_seen_at DESC LIMIT 1`,
          messengerId,
          userId,
        ),
      );
      return row && chatOf(row);
    },
    topic({ chatId, messengerId }, topicId) {
      const row = firstRow(
        database.all<TopicRow>(
          "SELECT topic_id, name, last_seen_at FROM topic_v1 WHERE messenger_id = ? AND chat_id = ? AND topic_id = ?",
          messengerId,
          chatId,
          topicId,
        ),
      );
      return row && topicOf(row);
    },
    putTopic({ chatId, messengerId }, { lastSeenAt, name, topicId }) {
      database.run(
        `INSERT INTO topic_v1 (messenger_id, chat_id, topic_id, name, last_seen_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (messenger_id, chat_id, topic_id)
         DO UPDATE SET name = excluded.name, last_seen_at = excluded.last_seen_at`,
        messengerId,
        chatId,
        topicId,
        name ?? null,
        lastSeenAt,
      );
    },
    topics: ({ chatId, messengerId }, limit) =>
      database
        .all<TopicRow>(
          `SELECT topic_id, name, last_seen_at FROM topic_v1 WHERE messenger_id = ? AND chat_id = ?
           ORDER BY last_seen_at DESC, topic_id LIMIT ?`,
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
      return database
        .all<Row>(
          `SELECT * FROM chat_v1 ${indexFor(kind, isGone)} ${filter} ORDER BY messenger_id, chat_id LIMIT ?`,
          ...bindings,
          limit,
        )
        .map(chatOf);
    },
  };
}

/** Returns the index for a filter. Without a hint SQLite may choose an index that makes it sort all rows. */
function indexFor(kind: ChatKind | undefined, isGone: boolean | undefined): string {
  if (isGone === true) return `INDEXED BY ${kind === undefined ? "chat_gone_v1" : "chat_gone_kind_v1"}`;
  return kind === undefined ? "NOT INDEXED" : "INDEXED BY chat_kind_v1";
}

function chatOf(row: Row): StoredChat {
  return {
    messengerId: row.messenger_id,
    chatId: row.chat_id,
    kind: row.kind as ChatKind,
    title: row.title ?? undefined,
    language: row.language ?? undefined,
    userId: row.user_id ?? undefined,
    lastSeenAt: row.last_seen_at,
    goneSince: row.gone_since ?? undefined,
    goneCode: row.gone_code ?? undefined,
  };
}

function topicOf({ last_seen_at: lastSeenAt, name, topic_id: topicId }: TopicRow): ChatTopic {
  return { topicId, lastSeenAt, ...(name !== null && { name }) };
}
