import type { CallPurpose } from "../../src/core/chat/gate.ts";
import { errorCode, failureCode } from "../../src/core/base/errors.ts";
import type { Surface } from "../../src/core/chat/surface.ts";
import { backoffMs } from "../calls/call-policy.ts";
import { callWithin } from "../calls/call-within.ts";
import { GATE_TIMEOUT_MS } from "../calls/delivery-context.ts";
import { cardNews } from "../outbox/card-news.ts";
import { editEveryMs, interimEveryMs, landsBy } from "../outbox/reply-timing.ts";
import { replyFields } from "../outbox/reply-fields.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { hideDrafts } from "../modes/draft.ts";
import { modeOf } from "../modes/mode.ts";
import { isPutOff, isStuckPost } from "../outbox/outbox-entry.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { performAction, storeShown } from "./perform-action.ts";
import type { CallAction } from "./perform-action.ts";
import { chooseProbe, isLookDue } from "../lost-posts/next-probe.ts";
import { notePlan, planCall, settle } from "./plan-call.ts";
import type { Reply } from "../outbox/reply.ts";

/** Shorter waits use a timer. For longer ones the durable wake-up calls `run`. */
const SHORT_WAIT_MS = 2_000;
/** While a reply streams, waits up to this use a timer: its turn keeps the object in memory anyway. */
const STREAMING_WAIT_MS = 30_000;

/**
 * The pause between two interim edits is this many times as long as an edit takes, including the request to the gate.
 */
const SLOW_EDIT_FACTOR = 4;
const LONGEST_EDIT_MS = 2_500;

/** A streaming reply without new text for this long no longer holds up others: its turn may never come back. */
const ABANDONED_AFTER_MS = 10 * 60 * 1000;
/** Failures of the loop in a row before a reply is given up. With the backoff this is about a quarter of an hour. */
const MOST_FAILURES = 20;

type Next =
  | { readonly kind: "call"; readonly reply: Reply; readonly surface: Surface; readonly action: CallAction }
  /**
   * `until` may be `Infinity`: wait until something changes. At `refreshAt` there is work too, but new text need not
   * wait for it.
   */
  | { readonly kind: "wait"; readonly until: number; readonly refreshAt?: number };

/**
 * Tells when `run` must be called for a lane: `soon` while it works or waits briefly, or at a time (epoch
 * milliseconds).
 */
export type WakeNeed = { readonly kind: "soon" } | { readonly kind: "at"; readonly at: number };

/**
 * The one writer of an address: a thread of a chat. It shows the replies of that thread, one call at a time, in the
 * order of `open`. It decides which reply is next and when. `planCall` and `reconcile` choose the call, `performAction`
 * makes it, and the chat's gate grants it.
 *
 * 1. A lane makes one call at a time, so no two calls to a thread overlap.
 * 2. A reply whose text is whole holds up every later one, until it has ended, or only an edit or removal is left that
 *    has failed for a while.
 * 3. If a post has been refused for a while, each retry is followed by one try of the next reply. If that succeeds, the
 *    problem is the first reply alone, and later replies overtake it.
 * 4. A streaming reply holds up the replies of later turns, as long as it gets text now and then. It never holds up
 *    notices, such as the reply of a command. A streaming notice, the progress of a run, holds up nothing.
 * 5. Each call is chosen again after the gate has granted it, because text may have arrived or the reply may have
 *    ended.
 * 6. The lane keeps nothing that a crash could lose: all of its work follows from the stored rows. If its loop fails,
 *    it rests and starts again. A reply that fails for a quarter of an hour is given up.
 */
export class Lane {
  readonly #context: DeliveryContext;
  readonly #changed: () => void;
  /** The array is replaced, never changed, because replies can end during a loop over it. */
  #replies: readonly Reply[] = [];
  /** Nothing is sent before this time (epoch milliseconds): a penalty, or a rest after the loop failed. */
  #notBefore = 0;
  /**
   * Time until which the lane waits, in epoch milliseconds. `Infinity` until it is poked; 0 if nothing has been
   * decided.
   */
  #waitUntil = 0;
  /** True if the lane only waits to refresh something visible. New text then starts it at once. */
  #isIdle = false;
  #timer: unknown;
  #working: Promise<void> | undefined;
  /** Number of consecutive requests that the gate did not answer. */
  #refusals = 0;
  /** Number of consecutive failures of the loop. */
  #failures = 0;
  /** The reply that the loop is working on. */
  #current: Reply | undefined;
  /**
   * Refused posts that later replies may overtake. Cleared if another call fails as well, because then the problem is
   * not that one reply.
   */
  #passable = new WeakSet<OutboxEntry>();

  /** `changed` is called whenever `wakeNeed` may have changed. */
  constructor(context: DeliveryContext, changed: () => void) {
    this.#context = context;
    this.#changed = changed;
  }

  get isEmpty(): boolean {
    return this.#replies.length === 0 && this.#working === undefined;
  }

  /** Adds a reply in its order, which a restart would give it, too. One that continues may be older than others. */
  add(reply: Reply): void {
    const later = this.#replies.findIndex(({ record }) => record.position > reply.record.position);
    this.#replies = this.#replies.toSpliced(later === -1 ? this.#replies.length : later, 0, reply);
  }

  remove(reply: Reply): void {
    this.#replies = this.#replies.filter((other) => other !== reply);
  }

  /** Notes that there is more text. Starts the lane, unless it is busy or waits; then this costs almost nothing. */
  nudge(): void {
    if (this.#working !== undefined) return;
    if (this.#isIdle || this.#context.deps.clock.now() >= this.#waitUntil) this.poke();
  }

  /** Notes that something changed. The lane decides again. */
  poke(): void {
    if (this.#working !== undefined) return;
    this.#clearTimer();
    this.#working = this.#work();
  }

  /** Ends all waits, because the chat continues under another id, where no call has been refused. */
  forgetWaits(): void {
    this.#notBefore = 0;
    this.poke();
  }

  /** Runs whatever is due. A waiting lane is left alone: touching it would bring its wake-up forward. */
  run(): void {
    if (this.#waitUntil <= this.#context.deps.clock.now()) this.poke();
  }

  /** Resolves when nothing can be done at this moment. */
  async idle(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  wakeNeed(): WakeNeed | undefined {
    const hasFinal = this.#replies.some((reply) => reply.isFinal);
    if (this.#working !== undefined) return hasFinal ? { kind: "soon" } : undefined;
    if (this.#waitUntil === 0 || this.#waitUntil === Infinity) return undefined;
    if (this.#timer === undefined) return { kind: "at", at: this.#waitUntil };
    return hasFinal ? { kind: "soon" } : undefined;
  }

  async #work(): Promise<void> {
    // Collects all text that arrives in the same run of code, and lets the caller know that the work has begun.
    await Promise.resolve();
    try {
      for (;;) {
        const next = this.#next();
        if (next.kind === "wait") {
          const at = Math.min(next.until, next.refreshAt ?? Infinity);
          this.#waitUntil = at;
          this.#isIdle = next.until === Infinity;
          if (at - this.#context.deps.clock.now() > SHORT_WAIT_MS) this.#storeShown();
          break;
        }
        await this.#call(next);
      }
    } catch (error) {
      this.#rest(error);
    } finally {
      this.#working = undefined;
    }
    this.#armTimer();
    this.#changed();
  }

  /**
   * Stores the visible state before a long wait. Otherwise, if the object is evicted during the wait, its next process
   * would spend the awaited call on sending the same text again.
   */
  #storeShown(): void {
    for (const reply of this.#replies) if (reply.isFinal) storeShown(this.#context, reply);
  }

  /**
   * Rests after a failed write or a defect. Nothing is lost: the lane continues from the stored rows. A reply that
   * keeps failing for a quarter of an hour is given up, because the chat's other replies wait behind it.
   */
  #rest(error: unknown): void {
    const { log, deps } = this.#context;
    const whose = this.#current === undefined ? {} : replyFields(this.#current);
    log.error("delivery.loop-failed", { ...whose, code: failureCode(error) });
    this.#failures += 1;
    this.#notBefore = deps.clock.now() + backoffMs(this.#failures, deps.random());
    this.#waitUntil = this.#notBefore;
    this.#isIdle = false;
    if (this.#failures < MOST_FAILURES || this.#current === undefined) return;
    try {
      this.#context.replies.end(this.#current, "failed", "internal");
      this.#failures = 0;
    } catch {
      // If nothing can be stored, the storage is the problem and not the reply.
      log.error("delivery.storage-failed", replyFields(this.#current));
    }
  }

  async #call(next: Extract<Next, { kind: "call" }>): Promise<void> {
    const { action } = next;
    if (action.kind === "probe" && action.entry.probe === undefined && next.surface.search === undefined) {
      await chooseProbe(this.#context, next.reply, next.surface, action.entry);
      return;
    }
    const { budget, deps } = this.#context;
    const { reply, surface } = next;
    const { address } = reply.record;
    const askedAsFinal = reply.isFinal;
    const askedAt = deps.clock.now();
    const answer = await callWithin(deps.clock, GATE_TIMEOUT_MS, () =>
      budget.acquire(
        address,
        purposeOf(reply, next.action),
        surface,
        next.action.kind === "post"
          ? landsBy(reply.record.policy, surface, 0, next.action.part.content)
          : undefined,
        cardNews(reply, surface),
        next.action.kind === "post" ? next.action.part.content.files?.length : undefined,
      ),
    );
    if (answer.kind !== "done") {
      const code = answer.kind === "failed" ? errorCode(answer.error) : answer.kind;
      this.#context.log.warn("delivery.gate-unreachable", { ...replyFields(reply), code });
      this.#refusals += 1;
      this.#notBefore = deps.clock.now() + Math.min(5_000, backoffMs(this.#refusals, deps.random()));
      return;
    }
    const grant = answer.value;
    this.#refusals = 0;
    if (grant.kind === "wait") {
      // If the text has become whole during the request, it asks again at once, because a call is reserved for it.
      if (reply.isFinal === askedAsFinal) reply.notBefore = Math.max(grant.retryAt, deps.clock.now() + 1);
      return;
    }
    if (reply.record.address !== address) {
      if (next.action.kind === "post") budget.notSent(address, surface);
      return;
    }
    // Text may have arrived during the request, or the reply may have ended. So the next call is chosen again.
    const now = this.#next();
    const isPosting = now.kind === "call" && now.reply === reply && now.action.kind === "post";
    if (next.action.kind === "post" && !isPosting) budget.notSent(address, surface);
    if (now.kind === "wait" || now.reply !== reply) return;
    // A post needs the right to post, and a probe must be chosen first. Both need another request.
    const isAnother = now.action.kind !== next.action.kind && surface.probing !== undefined;
    if (isAnother && (now.action.kind === "post" || now.action.kind === "probe")) return;
    if (isReadInstead(reply, surface, now.action)) reply.stopTyping();
    const startedAt = deps.clock.now();
    const holdUntil = await performAction(this.#context, reply, surface, now.action);
    this.#notePassable(reply, now.action);
    if (now.action.kind === "post") hideDrafts(this.#replies);
    this.#failures = 0;
    if (holdUntil !== undefined) this.#notBefore = Math.max(this.#notBefore, holdUntil);
    const isRefusedDraft = now.action.kind === "draft" && reply.draft.isRefused;
    if (!reply.isFinal && now.action.kind !== "probe" && !isRefusedDraft) {
      // A slow edit means that some machine is overloaded. The next interim edit then waits longer.
      const tookMs = now.action.kind === "edit" ? Math.min(LONGEST_EDIT_MS, deps.clock.now() - askedAt) : 0;
      const { policy } = reply.record;
      // A finished part does not wait for long: the next message can begin.
      const everyMs = isFinishing(now.action)
        ? editEveryMs(policy, surface)
        : interimEveryMs(policy, surface, reply.textLength);
      const spacingMs = Math.max(everyMs, SLOW_EDIT_FACTOR * tookMs);
      reply.notBefore = Math.max(reply.notBefore, startedAt + spacingMs, grant.next?.edit ?? 0);
    }
  }

  /** Chooses the next call. Stores replies that have ended on the way. */
  #next(): Next {
    const now = this.#context.deps.clock.now();
    let until = Infinity;
    /** Until this time a post in doubt waits. New text of other messages does not wait with it. */
    let doubtUntil = Infinity;
    let heldUntil = 0;
    let refreshAt = Infinity;
    if (this.#replies.length > 0 && this.#notBefore > now) return { kind: "wait", until: this.#notBefore };
    for (const reply of this.#replies) {
      if (heldUntil > now && !reply.record.isNotice) {
        if (reply.isDirty) until = Math.min(until, heldUntil);
        continue;
      }
      if (!reply.isFinal) {
        if (!reply.record.isNotice) heldUntil = Math.max(heldUntil, reply.touchedAt + ABANDONED_AFTER_MS);
        if (!reply.isDirty && reply.draft.refreshAt > now) {
          refreshAt = Math.min(refreshAt, reply.draft.refreshAt);
          continue;
        }
      }
      if (reply.notBefore > now) {
        until = Math.min(until, reply.notBefore);
        if (reply.isFinal && !reply.isWholeVisible) break;
        continue;
      }
      const surface = this.#surface(reply);
      if (surface === undefined) continue;
      this.#current = reply;
      const action = this.#planOf(reply, surface, now);
      if (action?.kind !== "draft" && reply.draft.refreshAt <= now) reply.draft.hide();
      refreshAt = Math.min(refreshAt, reply.draft.refreshAt);
      if (action === undefined) {
        if (reply.isFinal && reply.notBefore > now) until = Math.min(until, reply.notBefore);
        continue;
      }
      const retryAt = action.kind === "remove" ? action.entry.row.retryAt : action.entry?.row.retryAt;
      if (action.kind === "post" && this.#isHeldByDoubt(reply, surface, action)) {
        // The end of the doubt pokes this lane.
        continue;
      }
      const isLook = action.kind === "probe" && isLookDue(action.entry, now);
      const isDue = isLook || retryAt === undefined || retryAt <= now;
      if (isDue) return { kind: "call", reply, surface, action };
      if (action.kind === "probe") doubtUntil = Math.min(doubtUntil, retryAt);
      else until = Math.min(until, retryAt);
      const { entry } = action;
      const isHeld = entry === undefined || !(isPutOff(entry, now) || this.#passable.has(entry));
      if (reply.isFinal && !reply.isWholeVisible && isHeld) break;
    }
    return { kind: "wait", until, refreshAt: Math.min(refreshAt, doubtUntil) };
  }

  /** Returns the call that a reply needs now. Undefined if it waits for text or has ended. */
  #planOf(reply: Reply, surface: Surface, now: number): CallAction | undefined {
    for (;;) {
      const plan = planCall(reply, surface, now);
      notePlan(this.#context, reply, plan);
      if (plan.kind === "call") return plan.action;
      if (!("settled" in plan)) return undefined;
      settle(this.#context, reply, plan.settled);
      if (!reply.isOpen) return undefined;
    }
  }

  /** At most one post of a chat may be in doubt. This includes the posts that this object makes for other replies. */
  #isHeldByDoubt(reply: Reply, surface: Surface, { entry }: CallAction): boolean {
    return surface.probing !== undefined && this.#context.replies.hasOtherDoubt(entry, reply.record.address);
  }

  /** Notes after a call whether later replies may overtake one that cannot be posted. */
  #notePassable({ entries }: Reply, { entry }: CallAction): void {
    const now = this.#context.deps.clock.now();
    if (entry !== undefined && isStuckPost(entry, now)) this.#passable.add(entry);
    else if (entries.some(({ row }) => row.failingSince !== undefined && (row.retryAt ?? 0) > now))
      this.#passable = new WeakSet();
  }

  #surface(reply: Reply): Surface | undefined {
    try {
      return this.#context.surfaces.of(reply.record.address.messengerId);
    } catch {
      // The messenger is no longer declared.
      this.#context.replies.end(reply, "failed", "unknown-messenger");
      return undefined;
    }
  }

  #armTimer(): void {
    if (this.#waitUntil === 0) return;
    const delayMs = this.#waitUntil - this.#context.deps.clock.now();
    const hasFinal = this.#replies.some((reply) => reply.isFinal);
    if (delayMs > (hasFinal ? SHORT_WAIT_MS : STREAMING_WAIT_MS)) return;
    this.#timer = this.#context.deps.clock.setTimeout(() => this.poke(), Math.max(0, delayMs));
  }

  #clearTimer(): void {
    if (this.#timer !== undefined) this.#context.deps.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waitUntil = 0;
  }
}

/** Tells whether this call makes text visible, so that the typing indicator can end. */
function isReadInstead(reply: Reply, surface: Surface, { kind }: CallAction): boolean {
  if (kind === "draft") return true;
  return kind === "post" && (reply.isFinal || modeOf(reply, surface) !== "buffered");
}

function purposeOf(reply: Reply, action: CallAction): CallPurpose {
  if (action.kind === "probe") return "search";
  if (reply.isFinal) return "final";
  if (action.kind === "post") return "post";
  // The next part waits for this one to be complete.
  return isFinishing(action) ? "post" : "edit";
}

function isFinishing(action: CallAction): boolean {
  return (action.kind === "edit" || action.kind === "stream") && !action.isInterim;
}
