import type {
  IdRange,
  MessageBoxes,
  OtherOwners,
  OwnMessages,
  OwnMessagesQuestion,
  UnseenIds,
} from "../src/core/budget.ts";
import type { Clock } from "../src/core/deps.ts";
import type { Address } from "../src/core/surface.ts";
import type { BoxStore } from "./box-store.ts";
import { callWithin } from "./call-within.ts";
import { isOnlyThread } from "./landing.ts";
import { OpenPosts } from "./open-posts.ts";

/** The others of a chat answer by then, or it stays open whose a message is. */
const ASK_TIMEOUT_MS = 3_000;
/** Most ids of one range that are worth a call each. */
export const MOST_CANDIDATES = 10;
/**
 * So many ids after the newest known one are asked about at least: updates of messages may be late, and there are
 * messages of which a bot gets no update.
 */
const LEAST_TAIL = 3;
/**
 * In private chats a bot gets every message, and somebody waits for the answer. The id of a message that is sent anew
 * shows what was missed.
 */
const DIRECT_TAIL = 2;
/** The same holds in a group whose other conversations are known, but for messages of which no bot is told. */
const GROUP_TAIL = 4;
/** Ids remembered of one box: about this many back from the newest. */
const MEMORY = 400;
/** Above this many boxes in memory the idle ones are let go. */
const MOST_BOXES = 1_000;
const IDLE_MS = 10 * 60 * 1000;
/** What a box has seen is stored so long after it has changed. */
const STORE_AFTER_MS = 250;
/** A post whose id is not told within this time will not be heard of. */
const UNTOLD_FOR_MS = 5 * 60 * 1000;

interface Box {
  readonly messengerId: string;
  readonly name: string;
  /** It is about to be stored. */
  isStoring: boolean;
  newest: number;
  readonly seen: Set<number>;
  /** The first message that was posted since the start: of older ones it is not known who made them. */
  knownFrom: number | undefined;
  usedAt: number;
}

/** Who posts into each chat, from the first post on. Durable: it takes one row for each thread of a group. */
export interface Speakers {
  add(address: Address): void;
  /** Whether nobody but this thread has ever posted into the chat. */
  isAlone(address: Address): boolean;
  /** Who else has; nothing when they are too many. */
  others(address: Address): readonly string[] | undefined;
}

export interface MessageBoxOptions {
  readonly clock: Clock;
  readonly speakers: Speakers;
  readonly store: Pick<BoxStore, "read" | "write">;
  readonly askSpeaker?: AskSpeaker | undefined;
}

/** Asks another object what it has sent. May reject. */
export type AskSpeaker = (speaker: string, question: OwnMessagesQuestion) => Promise<OwnMessages>;

/**
 * The root's memory of message ids. Boxes of several threads are stored a moment after they have changed, so that a
 * start forgets little: each id that it forgets costs every search in the box a call. Others are not: their thread knows
 * most of it, and it would take a row for each message.
 */
export class MessageBoxMemory implements MessageBoxes {
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #boxes = new Map<string, Box>();
  /** By chat: the threads that were granted a post and have not told its id, and since when. */
  readonly #untold = new Map<string, Map<string, number>>();
  readonly #openPosts: OpenPosts;
  readonly #speakers: Speakers;
  readonly #store: MessageBoxOptions["store"];
  readonly #askSpeaker: AskSpeaker | undefined;
  /** Boxes of several threads. */
  readonly #wide = new Set<string>();

  constructor({ clock, speakers, store, askSpeaker }: MessageBoxOptions) {
    this.#clock = clock;
    this.#askSpeaker = askSpeaker;
    this.#speakers = speakers;
    this.#store = store;
    this.#startedAt = clock.now();
    this.#openPosts = new OpenPosts(this.#startedAt);
  }

  /** Keeps a box over a start when more than one thread has messages in it. */
  keep(address: Address, box: string): void {
    const { messengerId, chatId } = address;
    const key = boxKey(messengerId, box);
    if (this.#wide.has(key) || (box === chatId && this.#speakers.isAlone(address))) return;
    this.#wide.add(key);
    const known = this.#boxes.get(key);
    if (known === undefined) return;
    this.#restore(known);
    this.#storeSoon(known);
  }

  newest(messengerId: string, box: string): number | undefined {
    return this.#boxes.get(boxKey(messengerId, box))?.newest;
  }

  /** Whether other threads have posted into the chat. */
  hasOthers(address: Address): boolean {
    return !isOnlyThread(address) && !this.#speakers.isAlone(address);
  }

  /** Epoch milliseconds before which the thread should not post, because another one of its chat does. */
  heldUntil(address: Address): number {
    return this.hasOthers(address) ? this.#openPosts.heldUntil(address, this.#clock.now()) : 0;
  }

  /** A thread may own a message from now on that nobody has seen. */
  beginPost(address: Address): void {
    const now = this.#clock.now();
    if (!isOnlyThread(address)) {
      this.#speakers.add(address);
      this.#openPosts.begin(address, now);
    }
    const key = boxKey(address.messengerId, address.chatId);
    const chat = this.#untold.get(key) ?? new Map<string, number>();
    if (this.#untold.size >= MOST_BOXES) this.#forgetUntold(now);
    this.#untold.set(key, chat.set(address.threadId, now));
  }

  observe(messengerId: string, box: string, ids: readonly number[], sender?: Address): Promise<void> {
    this.note(messengerId, box, ids, sender);
    if (sender !== undefined) this.#openPosts.end(sender);
    return Promise.resolve();
  }

  note(messengerId: string, box: string, ids: readonly number[], sender?: Address): void {
    const isOfThisStart =
      sender !== undefined &&
      ids.length > 0 &&
      this.#untold.get(boxKey(messengerId, sender.chatId))?.delete(sender.threadId) === true;
    if (sender !== undefined && ids.length > 0) this.#openPosts.end(sender);
    const now = this.#clock.now();
    if (isOfThisStart) this.#box(messengerId, box, now).knownFrom ??= Math.max(...ids);
    for (const id of ids) {
      if (!Number.isSafeInteger(id)) continue;
      const known = this.#box(messengerId, box, now);
      known.seen.add(id);
      known.newest = Math.max(known.newest, id);
      this.#storeSoon(known);
      if (known.seen.size <= 2 * MEMORY) continue;
      for (const old of known.seen) if (old <= known.newest - MEMORY) known.seen.delete(old);
    }
  }

  async unseen(address: Address, box: string, range: IdRange): Promise<UnseenIds> {
    this.keep(address, box);
    const isSearch = range.beforeId === undefined && range.tail === undefined;
    if (isSearch && !isOnlyThread(address) && !this.#openPosts.isOpen(address)) {
      this.#openPosts.begin(address, this.#clock.now());
    }
    const known = this.#box(address.messengerId, box, this.#clock.now());
    // A root that was started meanwhile does not know what came and what it granted before.
    const wasThere = range.sinceAt >= this.#startedAt;
    const others = isOnlyThread(address) ? [] : this.#speakers.others(address);
    const tail = range.tail ?? tailOf(address, others);
    const isSeen = (id: number): boolean => known.seen.has(id);
    const unseen = idsBetween(range, known.newest, isSeen, tail);
    const isOlder = known.knownFrom === undefined || (unseen.ids[0] ?? Infinity) < known.knownFrom;
    const mayBeOther = isOlder || !wasThere || this.#hasOtherPost(address, range.sinceAt);
    // Where others can be asked, what they know of their own posts counts.
    if (others?.length === 0) return { ...unseen, others: "none" };
    if (this.#askSpeaker === undefined) return { ...unseen, others: mayBeOther ? "unknown" : "none" };
    const told = await this.#askOthers(address, others, range);
    if (told === undefined) return { ...unseen, others: "unknown" };
    this.note(
      address.messengerId,
      box,
      told.flatMap(({ ids }) => ids),
    );
    return {
      ...idsBetween(range, known.newest, isSeen, range.tail ?? GROUP_TAIL),
      others: othersOf(told),
    };
  }

  /** What the others of the chat have sent in the range; nothing when they cannot all be asked. */
  async #askOthers(
    address: Address,
    others: readonly string[] | undefined,
    { afterId, sinceAt }: IdRange,
  ): Promise<readonly OwnMessages[] | undefined> {
    const ask = this.#askSpeaker;
    if (others === undefined || ask === undefined) return undefined;
    const { messengerId, chatId } = address;
    const question = { messengerId, chatId, afterId, sinceAt };
    const outcome = await callWithin(this.#clock, ASK_TIMEOUT_MS, () =>
      Promise.all(others.map((speaker) => ask(speaker, question))),
    );
    return outcome.kind === "done" ? outcome.value : undefined;
  }

  #hasOtherPost({ messengerId, chatId, threadId }: Address, sinceAt: number): boolean {
    for (const [other, at] of this.#untold.get(boxKey(messengerId, chatId)) ?? []) {
      if (other !== threadId && at > sinceAt - UNTOLD_FOR_MS) return true;
    }
    return false;
  }

  #box(messengerId: string, box: string, now: number): Box {
    const key = boxKey(messengerId, box);
    const known = this.#boxes.get(key);
    if (known !== undefined) {
      known.usedAt = now;
      return known;
    }
    if (this.#boxes.size >= MOST_BOXES) {
      for (const [other, { usedAt }] of this.#boxes) if (now - usedAt > IDLE_MS) this.#boxes.delete(other);
    }
    const made: Box = {
      messengerId,
      name: box,
      newest: 0,
      seen: new Set(),
      knownFrom: undefined,
      usedAt: now,
      isStoring: false,
    };
    this.#boxes.set(key, made);
    if (this.#wide.has(key)) this.#restore(made);
    return made;
  }

  #restore(box: Box): void {
    for (const id of this.#store.read(box.messengerId, box.name)) {
      box.seen.add(id);
      box.newest = Math.max(box.newest, id);
    }
  }

  #storeSoon(box: Box): void {
    if (box.isStoring || !this.#wide.has(boxKey(box.messengerId, box.name))) return;
    box.isStoring = true;
    this.#clock.setTimeout(() => {
      box.isStoring = false;
      try {
        this.#store.write(box.messengerId, box.name, box.seen);
      } catch {
        // Known in memory all the same; the next id tries again.
      }
    }, STORE_AFTER_MS);
  }

  #forgetUntold(now: number): void {
    for (const [key, chat] of this.#untold) {
      for (const [thread, at] of chat) if (now - at > UNTOLD_FOR_MS) chat.delete(thread);
      if (chat.size === 0) this.#untold.delete(key);
    }
  }
}

/**
 * The ids of a range that nobody has seen, up to the most that are asked about. An open range ends after the newest
 * known id: with `tail` ids or as many as there is room for, and is too long when there is room for too few.
 */
export function idsBetween(
  { afterId, beforeId }: Pick<IdRange, "afterId" | "beforeId">,
  newest: number | undefined,
  isSeen: (id: number) => boolean,
  tail = MOST_CANDIDATES,
): Pick<UnseenIds, "ids" | "isTooLong"> {
  const ids: number[] = [];
  const knownEnd = beforeId === undefined ? Math.max(newest ?? 0, afterId) : beforeId - 1;
  // A closed range follows a search, whose tail is asked about once more.
  const room = beforeId === undefined ? MOST_CANDIDATES - LEAST_TAIL : MOST_CANDIDATES + LEAST_TAIL;
  for (let id = afterId + 1; id <= knownEnd; id += 1) {
    if (isSeen(id)) continue;
    if (ids.length === room) return { ids, isTooLong: true };
    ids.push(id);
  }
  if (beforeId === undefined) {
    for (let id = knownEnd + 1; ids.length < MOST_CANDIDATES && id <= knownEnd + tail; id += 1) ids.push(id);
  }
  return { ids, isTooLong: false };
}

function othersOf(told: readonly OwnMessages[]): OtherOwners {
  if (told.some(({ isPosting }) => isPosting)) return "posting";
  return told.some(({ hasLostPost }) => hasLostPost) ? "lost" : "none";
}

function tailOf({ isDirectMessage }: Address, others: readonly string[] | undefined): number {
  if (others?.length !== 0) return MOST_CANDIDATES;
  return isDirectMessage ? DIRECT_TAIL : GROUP_TAIL;
}

function boxKey(messengerId: string, box: string): string {
  return JSON.stringify([messengerId, box]);
}
