import { MOST_OPEN } from "../core/turn/broadcast.ts";
import { wait } from "../core/base/deps.ts";
import type { Clock } from "../core/base/deps.ts";
import { failureCode } from "../core/base/errors.ts";
import type { Log } from "../core/base/log.ts";
import { restAfter } from "../core/base/rest-after.ts";
import type { ScheduledRun } from "../core/turn/scheduled-run.ts";
import type { Address } from "../core/chat/surface.ts";
import { isAskedFor } from "../scheduled-runs/occurrence-key.ts";
import type { BroadcastWork, HandOver, HandOverResult } from "../core/turn/broadcast.ts";
import { DECIDING } from "./broadcast-store.ts";
import type { BroadcastStore, TargetChange } from "./broadcast-store.ts";
import type { StoredBroadcast, StoredTarget } from "./stored-broadcast.ts";
import type { SubscriberStore } from "./subscriber-store.ts";

export interface SliceOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: BroadcastStore;
  readonly subscribers: Pick<SubscriberStore, "has">;
  /**
   * Takes the calls of one message from the bot's rate, in a class below live answers. Returns the time to ask again, in
   * epoch milliseconds, if there are none now.
   */
  readonly pay: (address: Address, work: BroadcastWork) => Promise<number | undefined>;
  /** Returns the end of the quiet hours of a chat, in epoch milliseconds. Undefined outside of them. */
  readonly quietUntil: (address: Address) => Promise<number | undefined>;
  /** Calls the object of a conversation. */
  readonly handOver: (conversation: string, request: HandOver) => Promise<HandOverResult>;
}

/** Most targets of one run. An event of an object may make 1,000 calls to others, and has 30 s of processor time. */
export const SLICE = 200;
/** Most calls to other objects at a time. A prompt runs a model, which few servers do for many at once. */
const AT_ONCE = { content: 64, prompt: 16 } as const;
/** A slice begins nothing new after this time, so that each run of the alarm is short. */
const BEGIN_WITHIN_MS = 20_000;
/** Longest wait of one call for the outcome. */
const WAIT_MS = 10_000;
/** An object that has not answered is asked again after this. */
const ASK_AGAIN_MS = 5_000;
/** An object that has the message tells its outcome by itself. It is asked after this, in case it has died. */
const HEARD_MS = 60_000;
const ASK_AT_LEAST_EVERY_MS = 10 * 60_000;
/** Outcomes are stored this many at a time. Those that a crash loses are asked for again. */
const STORE_EVERY = 50;
/** After its end, a broadcast asks an object that cannot be reached for this long. */
const ASK_AFTER_END_MS = 24 * 60 * 60_000;

/**
 * Hands over one slice of a broadcast: first the targets whose outcome is due, then those whose quiet hours are over, then
 * new ones.
 *
 * 1. A call may be repeated at any time: the object sends the message once for each broadcast and address. So a slice
 *    that was cut by a crash runs again as a whole.
 * 2. A target keeps the conversation that it had when it was collected. A repeated call therefore reaches the same
 *    object.
 * 3. `after_key` moves only when each target of the slice has an outcome, or is `open`.
 * 4. When the broadcast is closing, the targets that an earlier slice may have handed over are asked, and nothing new
 *    begins.
 * 5. A target that has quiet hours, or whose account the platform makes wait, is put aside until the end, and holds nobody
 *    up. A prompt of a scheduled task that waits so gives way to that of its next occurrence.
 */
export async function runSlice(options: SliceOptions, broadcast: StoredBroadcast): Promise<void> {
  await new Slice(options, broadcast).run();
}

class Slice {
  readonly #options: SliceOptions;
  readonly #broadcast: StoredBroadcast;
  readonly #work: BroadcastWork;
  readonly #calls = new Set<Promise<void>>();
  readonly #beganAt: number;
  #changes: TargetChange[] = [];

  constructor(options: SliceOptions, broadcast: StoredBroadcast) {
    this.#options = options;
    this.#broadcast = broadcast;
    // An ended broadcast has no slices.
    this.#work = broadcast.work ?? { kind: "content", content: "", informModel: false };
    this.#beganAt = options.clock.now();
  }

  async run(): Promise<void> {
    const { clock, store } = this.#options;
    const { seq } = this.#broadcast;
    store.noteRun(seq, this.#beganAt);
    const due = store.due(seq, clock.now(), SLICE);
    const room = this.#room(due.length);
    // A slice that a crash has cut may have handed over a target before its quiet hours began, so all of them are asked.
    const isClosing = this.#isClosing();
    const woken = store.woken(seq, isClosing ? Number.MAX_SAFE_INTEGER : clock.now(), room);
    const freshRoom = isClosing ? room : room - woken.length;
    const fresh = this.#broadcast.isChecked ? [] : store.waiting(seq, freshRoom);
    // The object of an `open` target may never have got the message, so it may begin now.
    for (const target of due) {
      // The others stay due. A call waits while a model writes, so many of them take their time.
      if (clock.now() - this.#beganAt >= BEGIN_WITHIN_MS) break;
      await this.#ask(target);
    }
    for (const target of woken) if (!(await this.#begin(target))) break;
    let last: string | undefined;
    for (const target of fresh) {
      if (!(await this.#begin(target))) break;
      last = target.key;
    }
    await Promise.all(this.#calls);
    this.#keep();
    if (last !== undefined) store.setAfterKey(seq, last);
    if (this.#isClosing()) store.setChecked(seq);
  }

  /** Returns the number of targets that may begin, or of those that a cut slice may have begun. */
  #room(due: number): number {
    if (this.#isClosing()) return SLICE;
    const { count } = this.#options.store.open(this.#broadcast.seq);
    return Math.max(0, Math.min(SLICE - due, MOST_OPEN - count));
  }

  /** Begins with a target whose turn has come. Returns `false` if the slice ends before it. */
  async #begin(target: StoredTarget): Promise<boolean> {
    const { clock, pay, store, subscribers } = this.#options;
    const { address } = target;
    const { expiresAt, id, isSubscribed } = this.#broadcast;
    if (address === undefined) return true;
    if (this.#isClosing()) {
      await this.#ask(target);
      return true;
    }
    if (isSubscribed && !subscribers.has(address)) {
      this.#note({ ...target, state: "skipped", code: "unsubscribed" });
      return true;
    }
    const quietUntil = ignoresQuietHours(this.#work) ? undefined : await this.#options.quietUntil(address);
    if (quietUntil !== undefined) {
      this.#replaceSleeping(target.key);
      this.#putAside(target, quietUntil);
      return true;
    }
    const isTimeUp = (): boolean =>
      clock.now() - this.#beganAt >= BEGIN_WITHIN_MS ||
      clock.now() >= expiresAt ||
      store.get(id)?.state !== "running";
    if (isTimeUp()) return false;
    for (let readyAt = await pay(address, this.#work); readyAt !== undefined;) {
      if (readyAt - clock.now() >= BEGIN_WITHIN_MS) {
        this.#putAside(target, readyAt);
        return true;
      }
      await wait(clock, Math.max(1, readyAt - clock.now()));
      if (isTimeUp()) return false;
      readyAt = await pay(address, this.#work);
    }
    await this.#ask(target);
    return true;
  }

  #putAside(target: StoredTarget, until: number): void {
    this.#note({ ...target, state: "open", tries: 0, askAt: Math.min(until, this.#broadcast.expiresAt) });
  }

  /** Ends prompts of earlier occurrences for this target, which wait for the end of the same quiet hours. */
  #replaceSleeping(key: string): void {
    const { store } = this.#options;
    const run = runOf(this.#work);
    if (run === undefined) return;
    for (const { seq, work } of store.unfinished()) {
      const earlier = work && runOf(work);
      if (seq >= this.#broadcast.seq || earlier === undefined || isAskedFor(earlier.occurrenceKey)) continue;
      const { keeper, taskId } = earlier.schedule;
      if (keeper !== run.schedule.keeper || taskId !== run.schedule.taskId) continue;
      const target = store.sleeping(seq, key);
      if (target !== undefined) store.change(seq, [{ ...target, state: "skipped", code: "missed" }]);
    }
  }

  /** Calls the object of a target. Resolves when the next call may begin. */
  async #ask(target: StoredTarget): Promise<void> {
    if (this.#calls.size >= AT_ONCE[this.#work.kind]) await Promise.race(this.#calls);
    const call = this.#call(target).finally(() => this.#calls.delete(call));
    // If this result could not be stored, the next one stores it too, or the end of the slice does.
    call.catch(() => undefined);
    this.#calls.add(call);
  }

  async #call(target: StoredTarget): Promise<void> {
    const { address, conversation = "", key } = target;
    if (address === undefined) return;
    const { handOver, log } = this.#options;
    const { expiresAt, id: broadcastId } = this.#broadcast;
    const notAfter = this.#isClosing() ? 0 : expiresAt;
    const request = { broadcastId, target: key, address, work: this.#work, notAfter, waitMs: WAIT_MS };
    try {
      this.#note(this.#after(target, await handOver(conversation, request)));
    } catch (error) {
      // The object cannot be reached, or has died: it may have the message. The call is repeated later.
      log.warn("broadcast.not-handed-over", { broadcast: broadcastId, code: failureCode(error) });
      this.#note(this.#unreachable(target));
    }
  }

  #after(target: StoredTarget, result: HandOverResult): TargetChange {
    switch (result.state) {
      case "waiting":
        return this.#open({ ...target, code: result.isDeciding === true ? DECIDING : undefined }, HEARD_MS);
      case "sent": {
        const { code, deliveryId, messageIds, state, usage } = result;
        return { ...target, state, code, deliveryId, messageIds, usage };
      }
      case "failed": {
        const { code, deliveryId, messageIds = [], state, usage } = result;
        return { ...target, state, code, deliveryId, messageIds, usage };
      }
      case "skipped": {
        const { state, usage } = result;
        // A closing broadcast has begun nothing: the object knows nothing of it.
        const code = result.code === "expired" ? (this.#broadcast.closing ?? result.code) : result.code;
        return { ...target, state, code, usage };
      }
      default:
        return result satisfies never;
    }
  }

  #unreachable(target: StoredTarget): TargetChange {
    const isOver = this.#options.clock.now() > this.#broadcast.expiresAt + ASK_AFTER_END_MS;
    return isOver ? { ...target, state: "failed", code: "unreachable" } : this.#open(target);
  }

  #open(target: StoredTarget, firstMs = ASK_AGAIN_MS): TargetChange {
    const tries = target.tries + 1;
    const restMs = restAfter(tries, firstMs, ASK_AT_LEAST_EVERY_MS);
    return { ...target, state: "open", tries, askAt: this.#options.clock.now() + restMs };
  }

  #note(change: TargetChange): void {
    this.#changes.push(change);
    if (this.#changes.length >= STORE_EVERY) this.#keep();
  }

  #keep(): void {
    if (this.#changes.length === 0) return;
    this.#options.store.change(this.#broadcast.seq, this.#changes);
    this.#changes = [];
  }

  #isClosing(): boolean {
    return this.#broadcast.state === "closing";
  }
}

/** The occurrence of a scheduled task that a prompt belongs to. A text is written already, and does not give way. */
function runOf(work: BroadcastWork): ScheduledRun | undefined {
  return work.kind === "prompt" ? work.run : undefined;
}

function ignoresQuietHours(work: BroadcastWork): boolean {
  return work.kind === "content" && work.ignoresQuietHours === true;
}
