import type { Database } from "../core/database.ts";
import { firstRow } from "../core/database.ts";

/** Small facts that a conversation remembers: its session, who was refused, which threads it listens to. */
const SCHEMA =
  "CREATE TABLE IF NOT EXISTS thread_v1 (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID";

export interface ThreadMemory {
  /** The transcript's session that new turns belong to. */
  session(): string;
  /** Later turns begin with an empty transcript; what was said before stays stored. */
  openSession(id: string): void;
  isSubscribed(threadId: string): boolean;
  subscribe(threadId: string): void;
  /** `true` the first time since this person was within the limits. */
  reportLimitOnce(messengerId: string, userId: string): boolean;
  isWithinLimits(messengerId: string, userId: string): void;
  /** `true` the first time only, for this person. */
  refuseOnce(messengerId: string, userId: string): boolean;
  /** `true` the first time since the inbox of this thread had room. */
  reportFullOnce(threadId: string): boolean;
  hasRoom(threadId: string): void;
  /** `true` the first time since an event of this thread could be read. */
  reportGivenUpOnce(threadId: string): boolean;
  isReadable(threadId: string): void;
}

export function createThreadMemory(database: Database): ThreadMemory {
  database.run(SCHEMA);
  const cache = new Map<string, string | undefined>();
  const get = (key: string): string | undefined => {
    if (!cache.has(key)) {
      const row = firstRow(database.all<{ value: string }>("SELECT value FROM thread_v1 WHERE key = ?", key));
      cache.set(key, row?.value);
    }
    return cache.get(key);
  };
  const set = (key: string, value: string): void => {
    cache.set(key, value);
    database.run("INSERT OR REPLACE INTO thread_v1 (key, value) VALUES (?, ?)", key, value);
  };
  const once = (key: string): boolean => {
    if (get(key) !== undefined) return false;
    set(key, "1");
    return true;
  };

  const forget = (key: string): void => {
    if (get(key) === undefined) return;
    cache.set(key, undefined);
    database.run("DELETE FROM thread_v1 WHERE key = ?", key);
  };

  return {
    session: () => get("session") ?? "",
    openSession: (id) => set("session", id),
    isSubscribed: (threadId) => get(`subscribed:${threadId}`) !== undefined,
    subscribe(threadId) {
      once(`subscribed:${threadId}`);
    },
    reportLimitOnce: (messengerId, userId) => once(`limit:${messengerId}:${userId}`),
    isWithinLimits: (messengerId, userId) => forget(`limit:${messengerId}:${userId}`),
    refuseOnce: (messengerId, userId) => once(`refused:${messengerId}:${userId}`),
    reportFullOnce: (threadId) => once(`full:${threadId}`),
    hasRoom: (threadId) => forget(`full:${threadId}`),
    reportGivenUpOnce: (threadId) => once(`given-up:${threadId}`),
    isReadable: (threadId) => forget(`given-up:${threadId}`),
  };
}
