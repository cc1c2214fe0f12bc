import type { CallPurpose } from "../../src/core/gate.ts";
import { errorCode, failureCode } from "../../src/core/errors.ts";
import type { Surface } from "../../src/core/surface.ts";
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

/** Waits up to this long are a timer; longer ones are left to `run`, which the durable wake calls. */
const SHORT_WAIT_MS = 2_000;
/** While a reply streams, its turn keeps the object in memory anyway, and a timer saves the durable write. */
const STREAMING_WAIT_MS = 30_000;

/** Interim states leave this many times as much time between them as one takes, with the asking for its budget. */
const SLOW_EDIT_FACTOR = 4;
const LONGEST_EDIT_MS = 2_500;

/** A reply that streams and gets no text for so long holds nobody any more: its turn may never come back. */
const ABANDONED_AFTER_MS = 10 * 60 * 1000;
/** With the backoff, about a quarter of an hour. */
const MOST_FAILURES = 20;

type Next =
  | { readonly kind: "call"; readonly reply: Reply; readonly surface: Surface; readonly action: CallAction }
  /** `Infinity`: until something changes. At `refreshAt` there is something to do, but more text need not wait for it. */
  | { readonly kind: "wait"; readonly until: number; readonly refreshAt?: number };

/** When `run` must be called for a lane: `soon` while it works or waits for a moment, or at a time. */
export type WakeNeed = { readonly kind: "soon" } | { readonly kind: "at"; readonly at: number };

/**
 * The one writer of an address: shows its replies, one call at a time, in the order of `open`.
 *
 * A reply whose text is whole holds every later one until it has ended, or until nothing is left of it but to change a
 * message that cannot be changed for a while. When it cannot be posted for a while, the next one is tried after each of
 * its tries, to see whether the trouble is that of the one reply alone. One that still streams holds only replies of
 * later turns, and those only while it gets text now and then: a notice, such as the answer of a command, does not
 * wait for the turn before it.
 */
export class Lane {
  readonly #context: DeliveryContext;
  readonly #changed: () => void;
  /** Replaced, never changed, because replies end while they are looked through. */
  #replies: readonly Reply[] = [];
  /** A penalty, or a rest after the loop itself failed. */
  #notBefore = 0;
  /** Epoch milliseconds; `Infinity` while it waits to be poked, 0 while nothing has been decided. */
  #waitUntil = 0;
  /** Until then only what is visible is kept alive: more text does not wait. */
  #isIdle = false;
  #timer: unknown;
  #working: Promise<void> | undefined;
  /** How often in a row the budget could not be asked. */
  #refusals = 0;
  /** How often in a row the loop itself failed. */
  #failures = 0;
  /** The reply that the loop works for. */
  #current: Reply | undefined;
  /** Posts that are refused again and again, and since whose last try nothing else was. */
  #passable = new WeakSet<OutboxEntry>();

  /** `changed` is called when `wakeNeed` may be another. */
  constructor(context: DeliveryContext, changed: () => void) {
    this.#context = context;
    this.#changed = changed;
  }

  get isEmpty(): boolean {
    return this.#replies.length === 0 && this.#working === undefined;
  }

  add(reply: Reply): void {
    this.#replies = [...this.#replies, reply];
  }

  remove(reply: Reply): void {
    this.#replies = this.#replies.filter((other) => other !== reply);
  }

  /** More text: looks at it unless the lane is busy or waits. Costs next to nothing then. */
  nudge(): void {
    if (this.#working !== undefined) return;
    if (this.#isIdle || this.#context.deps.clock.now() >= this.#waitUntil) this.poke();
  }

  /** Something changed: decides anew. */
  poke(): void {
    if (this.#working !== undefined) return;
    this.#clearTimer();
    this.#working = this.#work();
  }

  /** The chat goes on under another id, where no call has been refused: nothing of what was waited for holds. */
  forgetWaits(): void {
    this.#notBefore = 0;
    this.poke();
  }

  /** Runs whatever is due. A waiting lane is left alone: to poke it would bring its wake-up forward. */
  run(): void {
    if (this.#waitUntil <= this.#context.deps.clock.now()) this.poke();
  }

  /** Resolves when nothing can be done right now. */
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
    // Collects everything that is said in one go, and lets the caller know that the work has begun.
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
   * The object may be put to rest while it waits: what is visible is not said once more then, which would take the call
   * that was waited for.
   */
  #storeShown(): void {
    for (const reply of this.#replies) if (reply.isFinal) storeShown(this.#context, reply);
  }

  /**
   * After a failed write, or a defect. Nothing is lost: what is stored is taken up again after a rest. A reply that
   * fails so for a quarter of an hour is given up, because the chat's other replies wait behind it.
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
      this.#context.endReply(this.#current, "failed", "internal");
      this.#failures = 0;
    } catch {
      // Nothing can be stored: then that is what fails, and not the reply.
      log.error("delivery.storage-failed", replyFields(this.#current));
    }
  }

  async #call(next: Extract<Next, { kind: "call" }>): Promise<void> {
    if (next.action.kind === "probe" && next.action.entry.probe === undefined) {
      await chooseProbe(this.#context, next.reply, next.surface, next.action.entry);
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
        next.action.kind === "post" ? landsBy(reply.record.policy, surface, 0) : undefined,
        cardNews(reply, surface),
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
      // Text that becomes whole while an interim state waits asks again at once, for the slot that is kept for it.
      if (reply.isFinal === askedAsFinal) reply.notBefore = Math.max(grant.retryAt, deps.clock.now() + 1);
      return;
    }
    if (reply.record.address !== address) {
      if (next.action.kind === "post") budget.notSent(address, surface);
      return;
    }
    // While the gate was asked, text may have come, or the reply may have ended: what counts is now.
    const now = this.#next();
    const isPosting = now.kind === "call" && now.reply === reply && now.action.kind === "post";
    if (next.action.kind === "post" && !isPosting) budget.notSent(address, surface);
    if (now.kind === "wait" || now.reply !== reply) return;
    // A post needs the right to it; and a probe has to be chosen.
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
      // An edit that took long says that somebody is overloaded: the next interim state gives them time.
      const tookMs = now.action.kind === "edit" ? Math.min(LONGEST_EDIT_MS, deps.clock.now() - askedAt) : 0;
      const { policy } = reply.record;
      // What is finished early has a message behind it that can begin.
      const everyMs = isFinishing(now.action)
        ? editEveryMs(policy)
        : interimEveryMs(policy, reply.textLength);
      const spacingMs = Math.max(everyMs, SLOW_EDIT_FACTOR * tookMs);
      reply.notBefore = Math.max(reply.notBefore, startedAt + spacingMs, grant.next?.edit ?? 0);
    }
  }

  /** Chooses what to do now, and stores what has come to its end on the way. */
  #next(): Next {
    const now = this.#context.deps.clock.now();
    let until = Infinity;
    /** What waits until then is about a post in doubt: more text of other messages does not wait with it. */
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
        heldUntil = Math.max(heldUntil, reply.touchedAt + ABANDONED_AFTER_MS);
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
        // Whoever resolves the doubt pokes this lane.
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

  /** The call that a reply needs now; none when it needs other text first, or has ended. */
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

  /** One post of a chat is in doubt at a time, also of those that this object makes for several replies. */
  #isHeldByDoubt(reply: Reply, surface: Surface, { entry }: CallAction): boolean {
    return surface.probing !== undefined && this.#context.hasOtherDoubt(entry, reply.record.address);
  }

  /** After a call: whether later replies may go before one that cannot be posted. */
  #notePassable({ entries }: Reply, { entry }: CallAction): void {
    const now = this.#context.deps.clock.now();
    if (entry !== undefined && isStuckPost(entry, now)) this.#passable.add(entry);
    else if (entries.some(({ row }) => row.failingSince !== undefined && (row.retryAt ?? 0) > now))
      this.#passable = new WeakSet();
  }

  #surface(reply: Reply): Surface | undefined {
    try {
      return this.#context.surfaceFor(reply.record.address.messengerId);
    } catch {
      // The messenger is not declared any more.
      this.#context.endReply(reply, "failed", "unknown-messenger");
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

/** Whether there is something to read now, so that nobody needs to be told that the bot is writing. */
function isReadInstead(reply: Reply, surface: Surface, { kind }: CallAction): boolean {
  if (kind === "draft") return true;
  return kind === "post" && (reply.isFinal || modeOf(reply, surface) !== "buffered");
}

function purposeOf(reply: Reply, action: CallAction): CallPurpose {
  if (action.kind === "probe") return "search";
  if (reply.isFinal) return "final";
  if (action.kind === "post") return "post";
  // A later part waits for an earlier one to be whole.
  return isFinishing(action) ? "post" : "edit";
}

function isFinishing(action: CallAction): boolean {
  return (action.kind === "edit" || action.kind === "stream") && !action.isInterim;
}
