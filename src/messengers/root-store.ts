import type { Database } from "../core/database.ts";
import { firstRow } from "../core/database.ts";
import type { BotIdentity } from "../core/messenger.ts";
import type { MessengerThread } from "../core/messenger-event.ts";

/** What the root knows of its bot: who it is on each platform, which conversations there are, what it passed over. */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS directory_v1 (
    name TEXT PRIMARY KEY, messenger_id TEXT NOT NULL, thread_id TEXT NOT NULL, title TEXT, last_active_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  "CREATE TABLE IF NOT EXISTS identity_v1 (messenger_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, user_name TEXT) STRICT, WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS menu_v1 (messenger_id TEXT PRIMARY KEY, hash TEXT NOT NULL, try_again_at INTEGER) STRICT, WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS refusal_v1 (messenger_id TEXT PRIMARY KEY, code TEXT NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS probe_v1 (id INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT",
  "CREATE TABLE IF NOT EXISTS ignored_v1 (kind TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID",
];

/** A conversation in the directory. */
export interface DirectoryEntry {
  /** The name of its agent, `""` for the root itself. */
  readonly name: string;
  readonly messengerId: string;
  readonly threadId: string;
  readonly title: string | undefined;
  /** Epoch milliseconds, accurate to a minute. */
  readonly lastActiveAt: number;
}

/** Which menu of commands a platform was told, or refused to take. */
export interface StoredMenu {
  readonly hash: string;
  /** Epoch milliseconds; `undefined` when the platform has it. */
  readonly tryAgainAt: number | undefined;
}

/** That a platform refuses the credentials of a messenger. */
export interface StoredRefusal {
  readonly code: string;
  /** Epoch milliseconds of the newest refused call. */
  readonly at: number;
}

export interface RootStore {
  refusal(messengerId: string): StoredRefusal | undefined;
  setRefusal(messengerId: string, refusal: StoredRefusal): void;
  clearRefusal(messengerId: string): void;
  /** Writes something, to see whether the storage takes it. @throws {Error} when it does not */
  probe(now: number): void;
  menu(messengerId: string): StoredMenu | undefined;
  setMenu(messengerId: string, menu: StoredMenu): void;
  identity(messengerId: string): BotIdentity | undefined;
  setIdentity(messengerId: string, identity: BotIdentity): void;
  touch(name: string, messengerId: string, thread: MessengerThread, now: number): void;
  directory(limit: number): DirectoryEntry[];
  countIgnored(messengerId: string, kind: string): void;
  ignored(): Readonly<Record<string, number>>;
}

/** The directory is written at most this often for one conversation: a row written is what a root pays for. */
const TOUCH_EVERY_MS = 60_000;

export function createRootStore(database: Database): RootStore {
  for (const statement of SCHEMA) database.run(statement);
  const touched = new Map<string, number>();

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
        database.all<{ hash: string; try_again_at: number | null }>(
          "SELECT hash, try_again_at FROM menu_v1 WHERE messenger_id = ?",
          messengerId,
        ),
      );
      return row && { hash: row.hash, tryAgainAt: row.try_again_at ?? undefined };
    },
    setMenu(messengerId, { hash, tryAgainAt }) {
      database.run(
        "INSERT OR REPLACE INTO menu_v1 (messenger_id, hash, try_again_at) VALUES (?, ?, ?)",
        messengerId,
        hash,
        tryAgainAt ?? null,
      );
    },
    identity(messengerId) {
      const row = firstRow(
        database.all<{ user_id: string; user_name: string | null }>(
          "SELECT user_id, user_name FROM identity_v1 WHERE messenger_id = ?",
          messengerId,
        ),
      );
      if (row === undefined) return undefined;
      return { userId: row.user_id, ...(row.user_name !== null && { userName: row.user_name }) };
    },
    setIdentity(messengerId, identity) {
      database.run(
        "INSERT OR REPLACE INTO identity_v1 (messenger_id, user_id, user_name) VALUES (?, ?, ?)",
        messengerId,
        identity.userId,
        identity.userName ?? null,
      );
    },
    touch(name, messengerId, thread, now) {
      if (now - (touched.get(name) ?? 0) < TOUCH_EVERY_MS) return;
      database.run(
        `INSERT INTO directory_v1 (name, messenger_id, thread_id, title, last_active_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (name) DO UPDATE SET title = excluded.title, last_active_at = excluded.last_active_at`,
        name,
        messengerId,
        thread.id,
        thread.title ?? null,
        now,
      );
      touched.set(name, now);
    },
    directory: (limit) =>
      database
        .all<{
          name: string;
          messenger_id: string;
          thread_id: string;
          title: string | null;
          last_active_at: number;
        }>("SELECT * FROM directory_v1 ORDER BY last_active_at DESC LIMIT ?", limit)
        .map((row) => ({
          name: row.name,
          messengerId: row.messenger_id,
          threadId: row.thread_id,
          title: row.title ?? undefined,
          lastActiveAt: row.last_active_at,
        })),
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
