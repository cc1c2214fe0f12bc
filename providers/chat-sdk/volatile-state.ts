import type { Lock, QueueEntry, StateAdapter } from "chat";
import type { Clock } from "../../src/core/deps.ts";

interface Entry {
  readonly value: unknown;
  readonly expiresAt: number;
}

/** Most entries. Adapters cache lookups here, and a busy bot must not grow without limit. */
const maxEntries = 1000;

/**
 * Creates the state that a Chat SDK adapter works with. It is lost with the object, and nothing durable depends on it.
 *
 * Every claim succeeds and every lock is free: the inbox recognizes repeated events (I2), and a thread has one writer.
 * A real claim could lose an event that the adapter claims before it is stored (I1).
 */
export function createVolatileState(clock: Clock): StateAdapter {
  const entries = new Map<string, Entry>();
  const subscribed = new Set<string>();
  let locks = 0;

  const read = (key: string): unknown => {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    if (entry.expiresAt > clock.now()) return entry.value;
    entries.delete(key);
    return null;
  };
  const write = (key: string, value: unknown, ttlMs = Infinity) => {
    entries.delete(key);
    const oldest = entries.size >= maxEntries ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
    entries.set(key, { value, expiresAt: clock.now() + ttlMs });
  };
  const list = (key: string): unknown[] => {
    const value = read(key);
    return Array.isArray(value) ? value : [];
  };

  return {
    connect: async () => undefined,
    disconnect: async () => undefined,
    get: async <T>(key: string) => read(key) as T | null,
    set: async (key, value, ttlMs) => write(key, value, ttlMs),
    setIfNotExists: async (key, value, ttlMs) => {
      write(key, value, ttlMs);
      return true;
    },
    delete: async (key) => void entries.delete(key),
    appendToList: async (key, value, options) => {
      const kept = [...list(key), value].slice(-(options?.maxLength ?? 100));
      write(key, kept, options?.ttlMs);
    },
    getList: async <T>(key: string) => list(key) as T[],
    subscribe: async (threadId) => void subscribed.add(threadId),
    unsubscribe: async (threadId) => void subscribed.delete(threadId),
    isSubscribed: async (threadId) => subscribed.has(threadId),
    acquireLock: async (threadId, ttlMs): Promise<Lock> => {
      locks += 1;
      return { threadId, token: `lock-${locks}`, expiresAt: clock.now() + ttlMs };
    },
    extendLock: async () => true,
    releaseLock: async () => undefined,
    forceReleaseLock: async () => undefined,
    enqueue: async (threadId, entry, maxSize) => {
      const queue = [...list(`queue:${threadId}`), entry].slice(-maxSize);
      write(`queue:${threadId}`, queue);
      return queue.length;
    },
    dequeue: async (threadId) => {
      const [first, ...rest] = list(`queue:${threadId}`);
      write(`queue:${threadId}`, rest);
      return (first ?? null) as QueueEntry | null;
    },
    queueDepth: async (threadId) => list(`queue:${threadId}`).length,
  };
}
