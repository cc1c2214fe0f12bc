import type { Clock } from "../../src/core/base/deps.ts";
import type { SeenIds, SeenQuestion } from "../../src/core/chat/gate.ts";
import type { BoxStore } from "./box-store.ts";
import { ExpectedPosts } from "./expected-posts.ts";
import type { ExpectedPost, Sender } from "./expected-posts.ts";

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
  readonly expected: ExpectedPosts;
  newest: number;
  usedAt: number;
  isStoring: boolean;
  /** True if ids were seen since the box was stored. */
  isChanged: boolean;
  /** Chats that search for a lost post in the box, with the time of their last question. */
  readonly searches: Map<string, number>;
}

/**
 * The root's memory of message ids with a known owner: incoming messages, and messages that the bot has sent. A search
 * for a lost post skips them, and asks about every other id of its range.
 *
 * 1. Shared boxes are stored a moment after they have changed. Each id that a restart forgets costs every search in the
 *    box one call.
 * 2. A forgotten id must never shorten the range of a search. So the highest id that the bot's own posts may have is
 *    stored before a post leaves (`ExpectedPosts`). A restarted root answers with it until it knows better.
 * 3. A message that was begun after the lost post could land has a higher id. Its id ends the range for certain.
 */
export class SeenMessages {
  readonly #clock: Clock;
  readonly #store: Pick<BoxStore, "read" | "write">;
  readonly #boxes = new Map<string, Box>();

  constructor(clock: Clock, store: Pick<BoxStore, "read" | "write">) {
    this.#clock = clock;
    this.#store = store;
  }

  note(
    messengerId: string,
    name: string,
    isShared: boolean,
    ids: readonly number[],
    sender: Sender = { kind: "people" },
  ): void {
    const box = this.#box(messengerId, name, isShared);
    const fresh = ids.filter((id) => Number.isSafeInteger(id) && !box.seen.has(id));
    for (const id of fresh) {
      box.seen.add(id);
      box.newest = Math.max(box.newest, id);
    }
    if (box.seen.size > 2 * MEMORY) {
      for (const old of box.seen) if (old <= box.newest - MEMORY) box.seen.delete(old);
    }
    if (fresh.length === 0) return;
    box.expected.told(sender, fresh);
    box.isChanged = true;
    this.#storeSoon(box);
  }

  /**
   * Notes that the bot posts into a chat of a shared box. Call it before the post leaves: many posts at once are stored
   * first. Throws if that is not possible.
   */
  expect(messengerId: string, name: string, post: ExpectedPost): void {
    const box = this.#box(messengerId, name, true);
    if (box.expected.add(post, this.#clock.now(), box.newest)) this.#write(box);
  }

  newest(messengerId: string, name: string): number | undefined {
    const newest = this.#boxes.get(keyOf(messengerId, name))?.newest ?? 0;
    return newest === 0 ? undefined : newest;
  }

  after({ messengerId, box: name, chatId, isShared, afterId, landsBy }: SeenQuestion): SeenIds {
    const box = this.#box(messengerId, name, isShared);
    const now = this.#clock.now();
    box.searches.set(chatId, now);
    for (const [chat, at] of box.searches) if (now - at > SEARCHES_FOR_MS) box.searches.delete(chat);
    const ids = [...box.seen].filter((id) => id > afterId).toSorted((left, right) => left - right);
    const endId = landsBy === undefined ? undefined : box.expected.firstBegunAfter(landsBy);
    return {
      newestId: box.newest,
      searches: box.searches.size,
      ids,
      postedUpTo: Math.max(box.newest, box.expected.upTo),
      ...(endId !== undefined && { endId }),
    };
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
    const { seen: ids, postedUpTo } = isShared
      ? this.#store.read(messengerId, name)
      : { seen: [], postedUpTo: 0 };
    const seen = new Set(ids);
    const newest = Math.max(0, ...seen);
    const box = {
      messengerId,
      name,
      isShared,
      seen,
      expected: new ExpectedPosts({ newest, upTo: postedUpTo, startedAt: now }),
      newest,
      usedAt: now,
      isStoring: false,
      isChanged: false,
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
      if (!box.isChanged) return;
      try {
        this.#write(box);
      } catch {
        // Storage is full or broken. The ids stay in memory, and the next change tries again.
      }
    }, STORE_AFTER_MS);
  }

  #write(box: Box): void {
    const postedUpTo = box.expected.toStore(this.#clock.now(), box.newest);
    this.#store.write(box.messengerId, box.name, { seen: box.seen, postedUpTo });
    box.expected.stored(box.newest, postedUpTo);
    box.isChanged = false;
  }
}

function keyOf(messengerId: string, name: string): string {
  return JSON.stringify([messengerId, name]);
}
