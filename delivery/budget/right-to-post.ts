import type { ChatNews } from "../../src/core/gate.ts";
import type { StoredRight } from "./gate-store.ts";

/** A post has an answer by then, most times: whoever waits asks again. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;
/**
 * A holder that says nothing for so long after its post cannot land any more loses the right. It says something with
 * each call while it searches.
 */
const HOLD_MS = 15_000;
const LEAST_HOLD_MS = 30_000;
const HOLD_IN_DOUBT_MS = 90_000;
/** After a start the holder has this long to say something. */
const START_MS = 10_000;
/** Ids of sent messages that are remembered. */
const MEMORY = 200;

interface Holder {
  readonly key: string;
  readonly ticket: number;
  /** When the process began to which it was given. */
  readonly startedAt: number;
  readonly isDurable: boolean;
  /** Epoch milliseconds. */
  readonly since: number;
  until: number;
}

export interface RightToPostOptions {
  readonly stored: StoredRight | undefined;
  readonly sentIds: readonly number[];
  readonly startedAt: number;
  /** The end of the chat's penalty, in epoch milliseconds; 0 for none. Until then the holder cannot say anything. */
  readonly penaltyUntil: number;
  /** Stores the right and the ids. Called only for speakers in other objects. */
  readonly write: (right: StoredRight, sentIds: Iterable<number>) => void;
}

/**
 * The right to post into one chat.
 *
 * 1. One speaker holds it at a time, from the grant of a post until it is known what became of the post.
 * 2. It survives the gate's death: a speaker in another object is stored before its post leaves. What the gate's own
 *    object posts stands in its outbox, which is asked instead.
 * 3. Whoever searches for a lost post holds it, so that nobody posts between a question and its answer.
 * 4. A speaker that says nothing any more loses it. Until the next post is known, it counts as untold: a message that
 *    is found may be its own, and nothing is concluded from that.
 */
export class RightToPost {
  readonly #write: RightToPostOptions["write"];
  readonly sentIds: Set<number>;
  #ticket: number;
  #holder: Holder | undefined;
  #untold: readonly string[];
  /** Nobody could find out what became of a post, and no later one is known yet. */
  #isUnresolved: boolean;

  constructor({ stored, sentIds, startedAt, penaltyUntil, write }: RightToPostOptions) {
    this.#write = write;
    this.sentIds = new Set(sentIds);
    this.#ticket = stored?.ticket ?? 0;
    this.#untold = stored?.untold ?? [];
    this.#isUnresolved = stored?.isUnresolved ?? false;
    const holder = stored?.holder;
    if (holder === undefined) return;
    const heldByPenalty = penaltyUntil > startedAt ? penaltyUntil + HOLD_IN_DOUBT_MS : 0;
    const until = Math.max(holder.until, startedAt + START_MS, heldByPenalty);
    this.#holder = { ...holder, isDurable: true, since: startedAt, until };
  }

  get newestId(): number {
    return Math.max(0, ...this.sentIds);
  }

  /** Epoch milliseconds at which to ask again, because another speaker holds the right. */
  heldUntil(key: string, now: number): number | undefined {
    this.#lapse(now);
    const holder = this.#holder;
    if (holder === undefined || holder.key === key) return undefined;
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, now - holder.since));
    return Math.min(holder.until, now + waitMs);
  }

  /** Gives the right to a speaker; `isDurable` for one in another object. Returns its ticket. */
  give(key: string, startedAt: number, isDurable: boolean, now: number, landsWithinMs = 0): number {
    this.#ticket += 1;
    const ticket = this.#ticket;
    // A search takes the right again and again, also while a penalty holds it for longer.
    const known = this.#holder?.key === key ? this.#holder.until : 0;
    const until = Math.max(known, now + Math.max(LEAST_HOLD_MS, landsWithinMs + HOLD_MS));
    this.#holder = { key, ticket, startedAt, isDurable, since: now, until };
    if (isDurable) this.#store();
    return this.#ticket;
  }

  /** What a speaker tells. A right that it does not need any more is free. */
  hear(key: string, news: ChatNews, isDurable: boolean, now: number): void {
    const { sentIds, startedAt, ticket, isInDoubt, isUnresolved = false } = news;
    this.#lapse(now);
    for (const id of sentIds) this.sentIds.add(id);
    this.#forgetOld();
    const holder = this.#holder;
    // What it said before it was given the right, or before it died, says nothing about this one.
    const isHolder = holder?.key === key && (ticket === holder.ticket || startedAt > holder.startedAt);
    let isChanged = sentIds.length > 0;
    if (isHolder && isInDoubt) {
      holder.until = Math.max(holder.until, now + HOLD_IN_DOUBT_MS);
    } else if (isHolder) {
      this.#holder = undefined;
      // Whatever was posted before has a lower id, and searches begin above the newest that is known.
      if (sentIds.length > 0) {
        this.#untold = [];
        this.#isUnresolved = false;
      }
      this.#isUnresolved ||= isUnresolved;
      isChanged = true;
    }
    if (!isInDoubt && this.#untold.includes(key)) {
      this.#untold = this.#untold.filter((other) => other !== key);
      isChanged = true;
    }
    if (isChanged && isDurable) this.#store();
  }

  /** Whether a message that this speaker finds can only be its own. */
  claim(key: string, now: number): "certain" | "busy" | "uncertain" {
    this.#lapse(now);
    if (this.#holder !== undefined && this.#holder.key !== key) return "busy";
    if (this.#isUnresolved) return "uncertain";
    return this.#untold.every((other) => other === key) ? "certain" : "uncertain";
  }

  /** A penalty holds everybody: the holder cannot say anything before it is over. */
  holdUntil(until: number): void {
    if (this.#holder !== undefined)
      this.#holder.until = Math.max(this.#holder.until, until + HOLD_IN_DOUBT_MS);
  }

  #lapse(now: number): void {
    const holder = this.#holder;
    if (holder === undefined || holder.until > now) return;
    this.#holder = undefined;
    // The gate's own object knows its posts; its outbox says what is in doubt.
    if (!holder.isDurable) return;
    this.#untold = [...this.#untold.filter((key) => key !== holder.key), holder.key];
    this.#store();
  }

  #forgetOld(): void {
    if (this.sentIds.size <= 2 * MEMORY) return;
    const kept = [...this.sentIds].toSorted((left, right) => right - left).slice(0, MEMORY);
    this.sentIds.clear();
    for (const id of kept) this.sentIds.add(id);
  }

  #store(): void {
    const holder = this.#holder?.isDurable === true ? this.#holder : undefined;
    const stored = holder && {
      key: holder.key,
      ticket: holder.ticket,
      startedAt: holder.startedAt,
      until: holder.until,
    };
    this.#write(
      {
        ticket: this.#ticket,
        untold: [...this.#untold],
        isUnresolved: this.#isUnresolved,
        ...(stored && { holder: stored }),
      },
      this.sentIds,
    );
  }
}
