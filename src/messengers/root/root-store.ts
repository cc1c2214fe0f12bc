import type { ChatMove } from "../../core/chat/chat-move.ts";
import type { Database } from "../../core/store/database.ts";
import { added, defineTable, encoded, flag, integer, openTable, text } from "../../core/store/table.ts";
import type { RowOf } from "../../core/store/table.ts";
import type { BotIdentity } from "../../core/chat/messenger.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { MessengerThread } from "../../core/chat/messenger-event.ts";
import { threadConversationName } from "../declare/conversation-name.ts";

// The root's facts about its bot: its identity on each platform, its conversations, and ignored updates.
const DIRECTORY = defineTable("directory_v2", {
  name: text("PRIMARY KEY"),
  messengerId: text("NOT NULL"),
  threadId: text("NOT NULL"),
  chatId: text("NOT NULL"),
  topicId: text(),
  isDirect: flag("NOT NULL"),
  title: text(),
  lastActiveAt: integer("NOT NULL"),
});
const IDENTITIES = defineTable("identity_v2", {
  messengerId: text("PRIMARY KEY"),
  account: text("NOT NULL"),
  userId: text("NOT NULL"),
  userName: text(),
  askedAt: integer("NOT NULL"),
});
const ALIASES = defineTable("alias_v1", {
  messengerId: text("PRIMARY KEY"),
  chatId: text("PRIMARY KEY"),
  threadId: text("NOT NULL"),
  toChatId: text("NOT NULL"),
  toThreadId: text("NOT NULL"),
  hasTwin: flag("NOT NULL"),
  learnedAt: integer("NOT NULL"),
});
const MENUS = defineTable("menu_v1", {
  messengerId: text("PRIMARY KEY"),
  hash: text("NOT NULL"),
  /** Time of the next try, in epoch milliseconds. Undefined if the platform has the menu. */
  tryAgainAt: integer(),
  /** Languages in which the platform may have a menu, besides the one for everyone. */
  languages: added(
    encoded<readonly string[]>(
      (stored) => stored.split(" ").filter(Boolean),
      (languages) => languages.join(" "),
    )(),
  ),
});
const REFUSALS = defineTable("refusal_v1", {
  messengerId: text("PRIMARY KEY"),
  code: text("NOT NULL"),
  /** Epoch milliseconds of the newest refused call. */
  at: integer("NOT NULL"),
});
const PROBES = defineTable("probe_v1", { id: integer("PRIMARY KEY"), at: integer("NOT NULL") }, "STRICT");
const IGNORED = defineTable("ignored_v1", { kind: text("PRIMARY KEY"), count: integer("NOT NULL") });

/** A conversation in the directory. */
export interface DirectoryEntry {
  /** The name of its object, `""` for the root itself. If its class is not the root's, `<class>@<name>`. */
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
export interface StoredMenu extends Omit<RowOf<typeof MENUS>, "messengerId"> {
  readonly languages: readonly string[];
}

/** A platform's refusal of a messenger's credentials. */
export type StoredRefusal = Omit<RowOf<typeof REFUSALS>, "messengerId">;

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
  // It had no address. The next message of each conversation lists it again.
  database.run("DROP TABLE IF EXISTS directory_v1");
  // It did not say which token an identity belongs to.
  database.run("DROP TABLE IF EXISTS identity_v1");
  const directory = openTable(database, DIRECTORY);
  const identities = openTable(database, IDENTITIES);
  const aliases = openTable(database, ALIASES);
  const menus = openTable(database, MENUS);
  const refusals = openTable(database, REFUSALS);
  const probes = openTable(database, PROBES);
  const ignored = openTable(database, IGNORED);
  let hasThreadIndex = false;
  const touched = new Map<string, { readonly at: number; readonly threadId: string }>();

  return {
    refusal: (messengerId) => refusals.first("WHERE messenger_id = ?", messengerId),
    setRefusal: (messengerId, { at, code }) => refusals.put({ messengerId, code, at }),
    clearRefusal: (messengerId) => refusals.delete("WHERE messenger_id = ?", messengerId),
    probe: (now) => probes.put({ id: 1, at: now }),
    menu(messengerId) {
      const menu = menus.first("WHERE messenger_id = ?", messengerId);
      return menu && { ...menu, languages: menu.languages ?? [] };
    },
    setMenu: (messengerId, { hash, tryAgainAt, languages }) =>
      menus.put({ messengerId, hash, tryAgainAt, languages }),
    identity(messengerId) {
      const row = identities.first("WHERE messenger_id = ?", messengerId);
      if (row === undefined) return undefined;
      const { account, askedAt, userId, userName } = row;
      return { account, askedAt, identity: { userId, ...(userName !== undefined && { userName }) } };
    },
    setIdentity: (messengerId, { account, askedAt, identity: { userId, userName } }) =>
      identities.put({ messengerId, account, userId, userName, askedAt }),
    aliases: () =>
      aliases.all("").map(({ chatId, hasTwin, learnedAt, messengerId, threadId, toChatId, toThreadId }) => ({
        messengerId,
        move: { from: { chatId, threadId }, to: { chatId: toChatId, threadId: toThreadId } },
        hasTwin,
        learnedAt,
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
        aliases.insert({
          messengerId,
          ...from,
          toChatId: to.chatId,
          toThreadId: to.threadId,
          hasTwin,
          learnedAt: now,
        });
        return { messengerId, move, hasTwin, learnedAt: now };
      });
    },
    touch(name, messengerId, thread, now) {
      const last = touched.get(name);
      if (last?.threadId === thread.id && now - last.at < TOUCH_EVERY_MS) return;
      const { chatId, id: threadId, isDirectMessage: isDirect, title, topicId } = thread;
      directory.put({ name, messengerId, threadId, chatId, topicId, isDirect, title, lastActiveAt: now });
      touched.set(name, { at: now, threadId: thread.id });
    },
    conversation(name) {
      const row = directory.first("WHERE name = ?", name);
      if (row === undefined) return undefined;
      const { chatId, isDirect: isDirectMessage, messengerId, threadId, topicId } = row;
      return { messengerId, threadId, chatId, ...(topicId !== undefined && { topicId }), isDirectMessage };
    },
    countConversations: () =>
      database.all<{ count: number }>("SELECT COUNT(*) AS count FROM directory_v2")[0]?.count ?? 0,
    directory: (limit) =>
      directory
        .all("ORDER BY last_active_at DESC LIMIT ?", limit)
        .map(({ lastActiveAt, messengerId, name, threadId, title }) => ({
          name,
          messengerId,
          threadId,
          title,
          lastActiveAt,
        })),
    titleOf: (name) => directory.first("WHERE name = ?", name)?.title,
    conversationIn(messengerId, threadId) {
      // Only bots with a `conversation` function ask, so only they pay for the index.
      if (!hasThreadIndex)
        database.run(
          "CREATE INDEX IF NOT EXISTS directory_thread_v1 ON directory_v2 (messenger_id, thread_id)",
        );
      hasThreadIndex = true;
      const where = "WHERE messenger_id = ? AND thread_id = ? ORDER BY last_active_at DESC LIMIT 1";
      return directory.first(where, messengerId, threadId)?.name;
    },
    countIgnored(messengerId, kind) {
      database.run(
        "INSERT INTO ignored_v1 (kind, count) VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET count = count + 1",
        `${messengerId}:${kind}`,
      );
    },
    ignored: () => Object.fromEntries(ignored.all("").map(({ count, kind }) => [kind, count])),
  };
}
