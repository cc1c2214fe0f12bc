import type { ChatNews } from "../../src/core/chat/gate.ts";
import type { StoredRight } from "./gate-store.ts";

/** A waiting speaker asks again after this time. Most posts have an answer by then. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;
/**
 * A holder loses the right if it stays silent for this long after its post cannot land any more. While it searches, it
 * reports with each call.
 */
const HOLD_MS = 15_000;
const LEAST_HOLD_MS = 30_000;
const HOLD_IN_DOUBT_MS = 90_000;
/** After a start the holder has this long to report. */
const START_MS = 10_000;
/** Number of sent ids that are remembered. */
const MEMORY = 200;

interface Holder {
  readonly key: string;
  readonly ticket: number;
  /** Start of the process that it was given to. */
  readonly startedAt: number;
  readonly isDurable: boolean;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Time after which its post cannot land any more. */
  readonly landsBy: number;
  until: number;
}

export interface RightToPostOptions {
  readonly stored: StoredRight | undefined;
  readonly sentIds: readonly number[];
  readonly startedAt: number;
  /** End of the chat's penalty, in epoch milliseconds; 0 for none. The holder cannot report before then. */
  readonly penaltyUntil: number;
  /** Stores the right and the ids. Only called for speakers in other objects. */
  readonly write: (right: StoredRight, sentIds: Iterable<number>) => void;
}

/**
 * The right to post into one chat. It does not know rates or texts.
 *
 * 1. One speaker holds it at a time: from the grant of a post until the outcome of that post is known.
 * 2. It survives the gate's death. A speaker in another object is stored before its post leaves. Posts of the gate's
 *    own object are in its outbox, which is asked instead.
 * 3. A speaker that searches for a lost post holds it, so nobody posts between a question and its answer.
 * 4. A speaker that stays silent for too long loses it, and the outcome of its post counts as unknown until a later
 *    post is known. Until then a message that a search finds may belong to that speaker, so the search concludes
 *    nothing. The same holds after any report of a post whose outcome cannot be found out, also if the speaker did not
 *    hold the right any more.
 */
export class RightToPost {
  readonly #write: RightToPostOptions["write"];
  readonly sentIds: Set<number>;
  #ticket: number;
  #holder: Holder | undefined;
  #untold: readonly string[];
  /** True if the outcome of a post could not be found out, and no later post is known yet. */
  #isUnresolved: boolean;
  /** Time after which that post cannot land any more. Posts from before may have lower ids than it. */
  #unresolvedUntil: number;

  constructor({ stored, sentIds, startedAt, penaltyUntil, write }: RightToPostOptions) {
    this.#write = write;
    this.sentIds = new Set(sentIds);
    this.#ticket = stored?.ticket ?? 0;
    this.#untold = stored?.untold ?? [];
    this.#isUnresolved = stored?.isUnresolved ?? false;
    // All lost posts have landed by then.
    this.#unresolvedUntil = startedAt + START_MS;
    const holder = stored?.holder;
    if (holder === undefined) return;
    const heldByPenalty = penaltyUntil > startedAt ? penaltyUntil + HOLD_IN_DOUBT_MS : 0;
    const until = Math.max(holder.until, startedAt + START_MS, heldByPenalty);
    this.#holder = { ...holder, isDurable: true, since: startedAt, landsBy: startedAt + START_MS, until };
  }

  get newestId(): number {
    return Math.max(0, ...this.sentIds);
  }

  /** Returns when to ask again, in epoch milliseconds, if another speaker holds the right. */
  heldUntil(key: string, now: number): number | undefined {
    this.#lapse(now);
    const holder = this.#holder;
    if (holder === undefined || holder.key === key) return undefined;
    const waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, now - holder.since));
    return Math.min(holder.until, now + waitMs);
  }

  /** Gives the right to a speaker and returns its ticket. `isDurable` is true for a speaker in another object. */
  give(key: string, startedAt: number, isDurable: boolean, now: number, landsWithinMs = 0): number {
    this.#ticket += 1;
    const ticket = this.#ticket;
    // A search takes the right again and again, also while a penalty extends it.
    const known = this.#holder?.key === key ? this.#holder.until : 0;
    const until = Math.max(known, now + Math.max(LEAST_HOLD_MS, landsWithinMs + HOLD_MS));
    this.#holder = { key, ticket, startedAt, isDurable, since: now, landsBy: now + landsWithinMs, until };
    if (isDurable) this.#store();
    return this.#ticket;
  }

  /** Takes a speaker's report. Frees the right if the speaker does not need it any more. */
  hear(key: string, news: ChatNews, isDurable: boolean, now: number): void {
    const { sentIds, startedAt, ticket, isInDoubt, isUnresolved = false } = news;
    this.#lapse(now);
    for (const id of sentIds) this.sentIds.add(id);
    this.#forgetOld();
    const holder = this.#holder;
    // A report from before the right was given, or from a dead process, does not count for this right.
    const isHolder =
      holder?.key === key &&
      (startedAt === holder.startedAt ? ticket === holder.ticket : startedAt > holder.startedAt);
    let isChanged = sentIds.length > 0;
    if (isHolder && isInDoubt) {
      holder.until = Math.max(holder.until, now + HOLD_IN_DOUBT_MS);
    } else if (isHolder) {
      this.#holder = undefined;
      // Earlier posts have lower ids, and searches begin above the newest known id.
      if (sentIds.length > 0) {
        this.#untold = [];
        if (holder.since >= this.#unresolvedUntil) this.#isUnresolved = false;
      }
      if (isUnresolved) this.#leave(holder.landsBy);
      isChanged = true;
    }
    if (!isInDoubt && this.#untold.includes(key)) {
      this.#untold = this.#untold.filter((other) => other !== key);
      if (isUnresolved) this.#leave(now);
      isChanged = true;
    } else if (!isInDoubt && !isHolder && isUnresolved) {
      // A post of the gate's own object, whose process has died: after a start nobody holds the right for it.
      this.#leave(Math.max(now, this.#unresolvedUntil));
      isChanged = true;
    }
    // The outbox of the gate's own object knows its other posts.
    if (isChanged && (isDurable || this.#isUnresolved)) this.#store();
  }

  /** Tells whether a message that this speaker's search finds can only be its own. */
  claim(key: string, now: number): "certain" | "busy" | "uncertain" {
    this.#lapse(now);
    if (this.#holder !== undefined && this.#holder.key !== key) return "busy";
    if (this.#isUnresolved) return "uncertain";
    return this.#untold.every((other) => other === key) ? "certain" : "uncertain";
  }

  /** Extends the right to the end of a penalty, because the holder cannot post or search before it. */
  holdUntil(until: number): void {
    if (this.#holder !== undefined)
      this.#holder.until = Math.max(this.#holder.until, until + HOLD_IN_DOUBT_MS);
  }

  #lapse(now: number): void {
    const holder = this.#holder;
    if (holder === undefined || holder.until > now) return;
    this.#holder = undefined;
    // The outbox of the gate's own object knows which of its posts are in doubt.
    if (!holder.isDurable) return;
    this.#untold = [...this.#untold.filter((key) => key !== holder.key), holder.key];
    this.#store();
  }

  #leave(landsBy: number): void {
    this.#unresolvedUntil = this.#isUnresolved ? Math.max(this.#unresolvedUntil, landsBy) : landsBy;
    this.#isUnresolved = true;
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
