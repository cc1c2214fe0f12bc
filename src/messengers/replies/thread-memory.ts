import type { ChatMove } from "../../core/chat-move.ts";
import type { Database } from "../../core/database.ts";
import { firstRow } from "../../core/database.ts";

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
  /** What is known of a thread is true of the one that took its place. */
  moveThread(from: string, to: string): void;
  /** Moves of chats that the root has to hear of, by messenger. */
  untoldMoves(): readonly UntoldMove[];
  keepUntoldMove(untold: UntoldMove): void;
  forgetUntoldMove(untold: UntoldMove): void;
}

/** A chat that has moved, as a refused call has said before the root knew. */
export interface UntoldMove {
  readonly messengerId: string;
  readonly move: ChatMove;
}

const OF_A_THREAD = ["subscribed", "full", "given-up"] as const;

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

  let untold: Map<string, UntoldMove> | undefined;
  const untoldByKey = (): Map<string, UntoldMove> => {
    untold ??= new Map(
      database
        .all<{ key: string; value: string }>("SELECT key, value FROM thread_v1 WHERE key GLOB 'moved:*'")
        .map(({ key, value }) => [key, JSON.parse(value) as UntoldMove]),
    );
    return untold;
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
    moveThread(from, to) {
      for (const what of OF_A_THREAD) {
        if (get(`${what}:${from}`) !== undefined) once(`${what}:${to}`);
        forget(`${what}:${from}`);
      }
    },
    untoldMoves: () => [...untoldByKey().values()],
    keepUntoldMove(move) {
      set(keyOf(move), JSON.stringify(move));
      untoldByKey().set(keyOf(move), move);
    },
    forgetUntoldMove(move) {
      forget(keyOf(move));
      untoldByKey().delete(keyOf(move));
    },
  };
}

function keyOf({ messengerId, move }: UntoldMove): string {
  return `moved:${JSON.stringify([messengerId, move.from.chatId])}`;
}
