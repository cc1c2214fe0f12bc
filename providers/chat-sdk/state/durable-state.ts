import type { Lock, StateAdapter } from "chat";
import type { Clock } from "../../../src/core/base/deps.ts";
import { InvalidInputError } from "../../../src/core/base/errors.ts";
import type { StateCalls } from "./state-at-root.ts";
import type { StateKind } from "./state-kind.ts";

export interface DurableStateOptions {
  readonly clock: Clock;
  /** Returns where a key is kept. */
  readonly at: (key: string) => StateCalls;
  /** Tells what a value of the adapter is. Undefined: a cache. Values of Switchboard that do not expire are kept. */
  readonly kindOf: (key: string) => StateKind | undefined;
  /** Called when a value could not be read. Adapters take that for a missing one. */
  readonly onFailure: (error: unknown) => void;
}

/** The state of an adapter, as one object of the bot uses it. */
export interface DurableState extends StateAdapter {
  /** Drops what this object remembers: the platform has refused a token, and there may be a new one. */
  forget(): void;
  /** Deletes a value that was stored before this time, in epoch milliseconds. */
  deleteBefore(key: string, before: number): Promise<void>;
}

/** A value is asked for again after this long. A token that was taken back meanwhile is refused by the platform. */
const REMEMBER_MS = 60_000;
const MOST_REMEMBERED = 1000;
/** Keys of values that Switchboard keeps beside those of the adapter begin so. */
const OWN_KEYS = "switchboard:";
/** Longest value that is kept, in characters. */
const MOST_CHARACTERS = 64 * 1024;

/**
 * Creates the state that a Chat SDK adapter works with. Values are kept for the whole bot; each object remembers what it
 * has read for a minute, so that a post costs no call.
 *
 * Every claim succeeds and every lock is free: the inbox recognizes repeated events (I2), and a thread has one writer.
 * A real claim could lose an event that the adapter claims before it is stored (I1).
 */
export function createDurableState({ at, clock, kindOf, onFailure }: DurableStateOptions): DurableState {
  const remembered = new Map<string, { readonly json: string | undefined; readonly until: number }>();
  let locks = 0;

  const recall = (key: string) => {
    const known = remembered.get(key);
    return known !== undefined && known.until > clock.now() ? known : undefined;
  };
  const remember = (key: string, json: string | undefined, ttlMs = Infinity): void => {
    remembered.delete(key);
    const [oldest] = remembered.keys();
    if (oldest !== undefined && remembered.size >= MOST_REMEMBERED) remembered.delete(oldest);
    remembered.set(key, { json, until: clock.now() + Math.min(ttlMs, REMEMBER_MS) });
  };
  /** A single value that is missing may be there soon, so only a list is remembered as missing. */
  const read = async (key: string, isList: boolean): Promise<unknown> => {
    const kind = kindOf(key) ?? "cache";
    if (kind === "claim") return null;
    let json = recall(key)?.json;
    if (recall(key) === undefined) {
      try {
        json = await at(key).read(key, kind);
      } catch (error) {
        onFailure(error);
        throw error;
      }
      if (json !== undefined || isList) remember(key, json);
    }
    return json === undefined ? null : JSON.parse(json);
  };
  const write = async (key: string, value: unknown, ttlMs?: number): Promise<void> => {
    const isEndless = ttlMs === undefined;
    const kind = kindOf(key) ?? (isEndless && key.startsWith(OWN_KEYS) ? "kept" : "cache");
    const json = JSON.stringify(value);
    if (kind === "claim" || json === undefined) return;
    if (json.length > MOST_CHARACTERS) {
      if (kind === "cache" && !isEndless) return;
      throw new InvalidInputError("adapter-state-too-large", "An adapter's value has more than 64 KiB.");
    }
    if (recall(key)?.json === json && kind !== "secret") return;
    await at(key).write(key, kind, json, expiry(ttlMs));
    remember(key, json, ttlMs);
  };
  const remove = async (key: string, before?: number): Promise<void> => {
    remembered.delete(key);
    await at(key).remove(key, kindOf(key) ?? "cache", before);
  };
  const expiry = (ttlMs?: number): number | undefined =>
    ttlMs === undefined ? undefined : clock.now() + ttlMs;

  return {
    forget: () => remembered.clear(),
    deleteBefore: remove,
    connect: async () => undefined,
    disconnect: async () => undefined,
    get: async <T>(key: string) => (await read(key, false)) as T | null,
    set: write,
    setIfNotExists: async () => true,
    delete: (key) => remove(key),
    async appendToList(key, value, options) {
      remembered.delete(key);
      const { maxLength = 100, ttlMs } = options ?? {};
      await at(key).append(key, JSON.stringify(value), maxLength, expiry(ttlMs));
    },
    async getList<T>(key: string) {
      const list = await read(key, true);
      return Array.isArray(list) ? (list as T[]) : [];
    },
    // Subscriptions and queues of the SDK are not used: conversations have their own.
    subscribe: async () => undefined,
    unsubscribe: async () => undefined,
    isSubscribed: async () => false,
    enqueue: async () => 0,
    dequeue: async () => null,
    queueDepth: async () => 0,
    acquireLock: async (threadId, ttlMs): Promise<Lock> => {
      locks += 1;
      return { threadId, token: `lock-${locks}`, expiresAt: clock.now() + ttlMs };
    },
    extendLock: async () => true,
    releaseLock: async () => undefined,
    forceReleaseLock: async () => undefined,
  };
}
