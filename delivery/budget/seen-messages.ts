import type { Clock } from "../../src/core/deps.ts";
import type { SeenIds, SeenQuestion } from "../../src/core/gate.ts";
import type { BoxStore } from "./box-store.ts";

/** About this many ids are remembered per box, counted back from the newest. */
const MEMORY = 400;
/** With more boxes than this in memory, idle ones are removed. */
const MOST_BOXES = 1_000;
const IDLE_MS = 10 * 60 * 1000;
/** A chat counts as searching for this long after its last question. */
const SEARCHES_FOR_MS = 60_000;
/** A shared box is stored this long after it has changed. */
const STORE_AFTER_MS = 250;

interface Box {
  readonly messengerId: string;
  readonly name: string;
  readonly isShared: boolean;
  readonly seen: Set<number>;
  newest: number;
  usedAt: number;
  isStoring: boolean;
  /** Chats that search for a lost post in the box, with the time of their last question. */
  readonly searches: Map<string, number>;
}

/**
 * The root's memory of message ids with a known owner: incoming messages, and messages that the bot has sent. A search
 * for a lost post skips them. With fewer known ids a search is longer, but never wrong.
 *
 * Shared boxes are stored a moment after they have changed, so that a restart forgets little. Each forgotten id costs
 * every search in the box one call.
 */
export class SeenMessages {
  readonly #clock: Clock;
  readonly #store: Pick<BoxStore, "read" | "write">;
  readonly #boxes = new Map<string, Box>();

  constructor(clock: Clock, store: Pick<BoxStore, "read" | "write">) {
    this.#clock = clock;
    this.#store = store;
  }

  note(messengerId: string, name: string, isShared: boolean, ids: readonly number[]): void {
    const box = this.#box(messengerId, name, isShared);
    for (const id of ids) {
      if (!Number.isSafeInteger(id)) continue;
      box.seen.add(id);
      box.newest = Math.max(box.newest, id);
    }
    if (box.seen.size > 2 * MEMORY) {
      for (const old of box.seen) if (old <= box.newest - MEMORY) box.seen.delete(old);
    }
    if (ids.length > 0) this.#storeSoon(box);
  }

  newest(messengerId: string, name: string): number | undefined {
    const newest = this.#boxes.get(keyOf(messengerId, name))?.newest ?? 0;
    return newest === 0 ? undefined : newest;
  }

  after({ messengerId, box: name, chatId, isShared, afterId }: SeenQuestion): SeenIds {
    const box = this.#box(messengerId, name, isShared);
    const now = this.#clock.now();
    box.searches.set(chatId, now);
    for (const [chat, at] of box.searches) if (now - at > SEARCHES_FOR_MS) box.searches.delete(chat);
    const ids = [...box.seen].filter((id) => id > afterId).toSorted((left, right) => left - right);
    return { newestId: box.newest, searches: box.searches.size, ids };
  }

  #box(messengerId: string, name: string, isShared: boolean): Box {
    const key = keyOf(messengerId, name);
    const now = this.#clock.now();
    const known = this.#boxes.get(key);
    if (known !== undefined) {
      known.usedAt = now;
      return known;
    }
    if (this.#boxes.size >= MOST_BOXES) {
      for (const [other, { usedAt }] of this.#boxes) if (now - usedAt > IDLE_MS) this.#boxes.delete(other);
    }
    const seen = new Set(isShared ? this.#store.read(messengerId, name) : []);
    const newest = Math.max(0, ...seen);
    const box = {
      messengerId,
      name,
      isShared,
      seen,
      newest,
      usedAt: now,
      isStoring: false,
      searches: new Map(),
    };
    this.#boxes.set(key, box);
    return box;
  }

  #storeSoon(box: Box): void {
    if (!box.isShared || box.isStoring) return;
    box.isStoring = true;
    this.#clock.setTimeout(() => {
      box.isStoring = false;
      try {
        this.#store.write(box.messengerId, box.name, box.seen);
      } catch {
        // Storage is full or broken. The ids stay in memory, and the next change tries again.
      }
    }, STORE_AFTER_MS);
  }
}

function keyOf(messengerId: string, name: string): string {
  return JSON.stringify([messengerId, name]);
}
