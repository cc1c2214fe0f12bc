import { addMissingColumns } from "../../core/add-missing-columns.ts";
import type { ChatMove } from "../../core/chat-move.ts";
import type { Database } from "../../core/database.ts";
import { firstRow } from "../../core/database.ts";
import type { BotIdentity } from "../../core/messenger.ts";
import type { Address } from "../../core/surface.ts";
import type { MessengerThread } from "../../core/messenger-event.ts";
import { threadConversationName } from "../declare/conversation-name.ts";

/** The root's facts about its bot: its identity on each platform, its conversations, and ignored updates. */
const SCHEMA = [
  // It had no address. The next message of each conversation lists it again.
  "DROP TABLE IF EXISTS directory_v1",
  `CREATE TABLE IF NOT EXISTS directory_v2 (
    name TEXT PRIMARY KEY, messenger_id TEXT NOT NULL, thread_id TEXT NOT NULL, chat_id TEXT NOT NULL, topic_id TEXT,
    is_direct INTEGER NOT NULL, title TEXT, last_active_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  // The old table did not say which token an identity belongs to.
  "DROP TABLE IF EXISTS identity_v1",
  `CREATE TABLE IF NOT EXISTS identity_v2 (
    messenger_id TEXT PRIMARY KEY, account TEXT NOT NULL, user_id TEXT NOT NULL, user_name TEXT, asked_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS alias_v1 (
    messenger_id TEXT NOT NULL, chat_id TEXT NOT NULL, thread_id TEXT NOT NULL, to_chat_id TEXT NOT NULL,
    to_thread_id TEXT NOT NULL, has_twin INTEGER NOT NULL, learned_at INTEGER NOT NULL, PRIMARY KEY (messenger_id, chat_id)
  ) STRICT, WITHOUT ROWID`,
  "CREATE TABLE IF NOT EXISTS menu_v1 (messenger_id TEXT PRIMARY KEY, hash TEXT NOT NULL, try_again_at INTEGER, languages TEXT) STRICT, WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS refusal_v1 (messenger_id TEXT PRIMARY KEY, code TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS probe_v1 (id INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT",
  "CREATE TABLE IF NOT EXISTS ignored_v1 (kind TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID",
];

/** A conversation in the directory. */
export interface DirectoryEntry {
  /** The name of its object, `""` for the root itself. */
  readonly name: string;
  readonly messengerId: string;
  readonly threadId: string;
  readonly title: string | undefined;
  /** Epoch milliseconds, accurate to a minute. */
  readonly lastActiveAt: number;
}

/** The bot's identity, as the platform has reported it. */
export interface StoredIdentity {
  /** The account of the identity: see `MessengerPlatform.account`. */
  readonly account: string;
  readonly identity: BotIdentity;
  /** Epoch milliseconds. */
  readonly askedAt: number;
}

/** A chat that continues under another id. */
export interface StoredAlias {
  readonly messengerId: string;
  readonly move: ChatMove;
  /**
   * True if events came from the new chat before the move was known. A conversation with the name of the new chat has
   * them.
   */
  readonly hasTwin: boolean;
  /** Epoch milliseconds. */
  readonly learnedAt: number;
}

/** The menu of commands that a platform has, or has refused. */
export interface StoredMenu {
  readonly hash: string;
  /** Time of the next try, in epoch milliseconds. Undefined if the platform has the menu. */
  readonly tryAgainAt: number | undefined;
  /** Languages in which the platform may have a menu, besides the one for everyone. */
  readonly languages: readonly string[];
}

/** A platform's refusal of a messenger's credentials. */
export interface StoredRefusal {
  readonly code: string;
  /** Epoch milliseconds of the newest refused call. */
  readonly at: number;
}

export interface RootStore {
  refusal(messengerId: string): StoredRefusal | undefined;
  setRefusal(messengerId: string, refusal: StoredRefusal): void;
  clearRefusal(messengerId: string): void;
  /** Writes a row, to check whether the storage accepts it. @throws {Error} if it does not */
  probe(now: number): void;
  menu(messengerId: string): StoredMenu | undefined;
  setMenu(messengerId: string, menu: StoredMenu): void;
  identity(messengerId: string): StoredIdentity | undefined;
  setIdentity(messengerId: string, identity: StoredIdentity): void;
  aliases(): StoredAlias[];
  /** Stores a move. The directory then lists the conversation under the new thread only. */
  addAlias(messengerId: string, move: ChatMove, now: number): StoredAlias;
  touch(name: string, messengerId: string, thread: MessengerThread, now: number): void;
  /** Returns the title of the chat in which a conversation was last written to. */
  titleOf(name: string): string | undefined;
  directory(limit: number): DirectoryEntry[];
  /** Returns the number of conversations in the directory. */
  countConversations(): number;
  /** Returns the place in which a conversation was last written to. */
  conversation(name: string): Address | undefined;
  /** Returns the conversation that was last written to in a thread. */
  conversationIn(messengerId: string, threadId: string): string | undefined;
  countIgnored(messengerId: string, kind: string): void;
  ignored(): Readonly<Record<string, number>>;
}

/** The directory is written at most this often for one conversation, because each written row has a cost. */
const TOUCH_EVERY_MS = 60_000;

export function createRootStore(database: Database): RootStore {
  for (const statement of SCHEMA) database.run(statement);
  addMissingColumns(database, "menu_v1", { languages: "TEXT" });
  let hasThreadIndex = false;
  const touched = new Map<string, { readonly at: number; readonly threadId: string }>();

  return {
    refusal: (messengerId) =>
      firstRow(
        database.all<{ code: string; at: number }>(
          "SELECT code, at FROM refusal_v1 WHERE messenger_id = ?",
          messengerId,
        ),
      ),
    setRefusal(messengerId, { at, code }) {
      database.run(
        "INSERT OR REPLACE INTO refusal_v1 (messenger_id, code, at) VALUES (?, ?, ?)",
        messengerId,
        code,
        at,
      );
    },
    clearRefusal(messengerId) {
      database.run("DELETE FROM refusal_v1 WHERE messenger_id = ?", messengerId);
    },
    probe(now) {
      database.run("INSERT OR REPLACE INTO probe_v1 (id, at) VALUES (1, ?)", now);
    },
    menu(messengerId) {
      const row = firstRow(
        database.all<{ hash: string; try_again_at: number | null; languages: string | null }>(
          "SELECT hash, try_again_at, languages FROM menu_v1 WHERE messenger_id = ?",
          messengerId,
        ),
      );
      if (row === undefined) return undefined;
      const languages = row.languages?.split(" ").filter(Boolean) ?? [];
      return { hash: row.hash, tryAgainAt: row.try_again_at ?? undefined, languages };
    },
    setMenu(messengerId, { hash, tryAgainAt, languages }) {
      database.run(
        "INSERT OR REPLACE INTO menu_v1 (messenger_id, hash, try_again_at, languages) VALUES (?, ?, ?, ?)",
        messengerId,
        hash,
        tryAgainAt ?? null,
        languages.join(" "),
      );
    },
    identity(messengerId) {
      const row = firstRow(
        database.all<{ account: string; user_id: string; user_name: string | null; asked_at: number }>(
          "SELECT account, user_id, user_name, asked_at FROM identity_v2 WHERE messenger_id = ?",
          messengerId,
        ),
      );
      if (row === undefined) return undefined;
      const { account, asked_at: askedAt, user_id: userId, user_name: userName } = row;
      return { account, askedAt, identity: { userId, ...(userName !== null && { userName }) } };
    },
    setIdentity(messengerId, { account, askedAt, identity }) {
      database.run(
        "INSERT OR REPLACE INTO identity_v2 (messenger_id, account, user_id, user_name, asked_at) VALUES (?, ?, ?, ?, ?)",
        messengerId,
        account,
        identity.userId,
        identity.userName ?? null,
        askedAt,
      );
    },
    aliases: () =>
      database
        .all<{
          messenger_id: string;
          chat_id: string;
          thread_id: string;
          to_chat_id: string;
          to_thread_id: string;
          has_twin: number;
          learned_at: number;
        }>("SELECT * FROM alias_v1")
        .map((row) => ({
          messengerId: row.messenger_id,
          move: {
            from: { chatId: row.chat_id, threadId: row.thread_id },
            to: { chatId: row.to_chat_id, threadId: row.to_thread_id },
          },
          hasTwin: row.has_twin === 1,
          learnedAt: row.learned_at,
        })),
    addAlias(messengerId, move, now) {
      const { from, to } = move;
      return database.transaction(() => {
        const twin = threadConversationName(messengerId, to.threadId);
        const hasTwin =
          database.all("DELETE FROM directory_v2 WHERE name = ? RETURNING name", twin).length > 0;
        touched.delete(twin);
        database.run(
          "UPDATE directory_v2 SET thread_id = ?, chat_id = ? WHERE messenger_id = ? AND thread_id = ?",
          to.threadId,
          to.chatId,
          messengerId,
          from.threadId,
        );
        database.run(
          "INSERT INTO alias_v1 VALUES (?, ?, ?, ?, ?, ?, ?)",
          messengerId,
          from.chatId,
          from.threadId,
          to.chatId,
          to.threadId,
          hasTwin ? 1 : 0,
          now,
        );
        return { messengerId, move, hasTwin, learnedAt: now };
      });
    },
    touch(name, messengerId, thread, now) {
      const last = touched.get(name);
      if (last?.threadId === thread.id && now - last.at < TOUCH_EVERY_MS) return;
      database.run(
        `INSERT INTO directory_v2 (name, messenger_id, thread_id, chat_id, topic_id, is_direct, title, last_active_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET messenger_id = excluded.messenger_id, thread_id = excluded.thread_id,
           chat_id = excluded.chat_id, topic_id = excluded.topic_id, is_direct = excluded.is_direct,
           title = excluded.title, last_active_at = excluded.last_active_at`,
        name,
        messengerId,
        thread.id,
        thread.chatId,
        thread.topicId ?? null,
        thread.isDirectMessage ? 1 : 0,
        thread.title ?? null,
        now,
      );
      touched.set(name, { at: now, threadId: thread.id });
    },
    conversation(name) {
      const row = firstRow(
        database.all<{
          messenger_id: string;
          thread_id: string;
          chat_id: string;
          topic_id: string | null;
          is_direct: number;
        }>(
          "SELECT messenger_id, thread_id, chat_id, topic_id, is_direct FROM directory_v2 WHERE name = ?",
          name,
        ),
      );
      return (
        row && {
          messengerId: row.messenger_id,
          threadId: row.thread_id,
          chatId: row.chat_id,
          ...(row.topic_id !== null && { topicId: row.topic_id }),
          isDirectMessage: row.is_direct === 1,
        }
      );
    },
    countConversations: () =>
      database.all<{ count: number }>("SELECT COUNT(*) AS count FROM directory_v2")[0]?.count ?? 0,
    directory: (limit) =>
      database
        .all<{
          name: string;
          messenger_id: string;
          thread_id: string;
          title: string | null;
          last_active_at: number;
        }>("SELECT * FROM directory_v2 ORDER BY last_active_at DESC LIMIT ?", limit)
        .map((row) => ({
          name: row.name,
          messengerId: row.messenger_id,
          threadId: row.thread_id,
          title: row.title ?? undefined,
          lastActiveAt: row.last_active_at,
        })),
    titleOf: (name) =>
      firstRow(database.all<{ title: string | null }>("SELECT title FROM directory_v2 WHERE name = ?", name))
        ?.title ?? undefined,
    conversationIn(messengerId, threadId) {
      // Only bots with a `conversation` function ask, so only they pay for the index.
      if (!hasThreadIndex)
        database.run(
          "CREATE INDEX IF NOT EXISTS directory_thread_v1 ON directory_v2 (messenger_id, thread_id)",
        );
      hasThreadIndex = true;
      const row = firstRow(
        database.all<{ name: string }>(
          `SELECT name FROM directory_v2 WHERE messenger_id = ? AND thread_id = ?
           ORDER BY last_active_at DESC LIMIT 1`,
          messengerId,
          threadId,
        ),
      );
      return row?.name;
    },
    countIgnored(messengerId, kind) {
      database.run(
        "INSERT INTO ignored_v1 (kind, count) VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET count = count + 1",
        `${messengerId}:${kind}`,
      );
    },
    ignored: () =>
      Object.fromEntries(
        database
          .all<{ kind: string; count: number }>("SELECT kind, count FROM ignored_v1")
          .map((row) => [row.kind, row.count]),
      ),
  };
}
