import { logBotFailure } from "../core/bot-code.ts";
import type { Database } from "../core/database.ts";
import type { Deps } from "../core/deps.ts";
import { failureCode } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Address } from "../core/surface.ts";
import { sumOfCosts } from "../core/turn-cost.ts";
import { afterEnd } from "./after-end.ts";
import type { CheckedTask } from "./check-tasks.ts";
import { latestMissed } from "./latest-missed.ts";
import { nextOccurrence } from "./next-occurrence.ts";
import { recordOf } from "./occurrence.ts";
import type { Leg, Occurrence, OccurrenceFilter, OccurrenceRecord, OwnerNews } from "./occurrence.ts";
import { isAskedFor, occurrenceKey } from "./occurrence-key.ts";
import { LIMIT_CODES } from "./step-result.ts";
import type { OccurrenceEnd, StepResult } from "./step-result.ts";
import { createScheduleStore } from "./schedule-store.ts";
import type { ScheduleStore, StoredTask } from "./schedule-store.ts";
import { taskRecord } from "./task-record.ts";
import type { ScheduledTaskRecord } from "./task-record.ts";

export interface SchedulesOptions {
  readonly database: Database;
  readonly deps: Pick<Deps, "clock" | "newId" | "random">;
  readonly log: Log;
  /**
   * Returns the tasks of this object.
   *
   * @throws {ConfigurationError} `scheduled-task-invalid`
   */
  readonly tasks: () => readonly CheckedTask[];
  /** Does the next step of an occurrence. */
  readonly run: (occurrence: Occurrence, task: CheckedTask, stored: StoredTask) => Promise<StepResult>;
  /**
   * Sends a message to the owner of a task, at most once for the occurrence. Returns the time of the next try, in epoch
   * milliseconds, if the owner's chat is quiet now.
   */
  readonly tellOwner: (
    task: CheckedTask,
    occurrence: Occurrence,
    news: OwnerNews,
  ) => Promise<number | undefined>;
  /** Ends the turns of an occurrence whose task was removed. May be called again after a crash. */
  readonly onRemoved?: (occurrence: Occurrence) => void;
  /** Called when stored work waits for `work`. */
  readonly onChange: () => void;
}

const MOST_AT_ONCE = 10;
/** A step that cannot be made now is tried again after this, and given up after a day. */
const TRY_AGAIN_MS = 5000;
const TRY_AGAIN_MOST_MS = 5 * 60_000;
const DAY_MS = 24 * 3_600_000;
const GIVE_UP_MS = DAY_MS;
/** A step that comes so much later than planned shows that the bot was away. */
const AWAY_MS = 10 * 60_000;
const KEEP_MS = 90 * 24 * 3_600_000;
const SWEEP_EVERY_MS = 3_600_000;

/**
 * The scheduled tasks of one object. It decides which occurrences exist and when their next step is due; `run` makes
 * the steps.
 *
 * 1. An occurrence is a row before anything of it runs, and its task's next occurrence is stored with it. So a crash
 *    neither loses one nor makes two of it.
 * 2. A late wake-up creates one occurrence, the latest that was missed. Earlier ones leave one row that says so. A
 *    prompt that waits for the end of quiet hours gives way to the next occurrence in the same way.
 * 3. Occurrences are independent: one that fails or waits never blocks later ones.
 * 4. Each message to the owner is stored with the end that it is about.
 */
export class Schedules {
  readonly #options: SchedulesOptions;
  readonly #store: ScheduleStore;
  /** The declared tasks. Undefined before the first reconciliation, and while the declaration is invalid. */
  #tasks: ReadonlyMap<string, CheckedTask> | undefined;
  /** Keys of the occurrences whose step this process is making. */
  readonly #stepping = new Set<string>();
  #sweptAt = 0;
  #restUntil = 0;

  constructor(options: SchedulesOptions) {
    this.#options = options;
    this.#store = createScheduleStore(options.database);
  }

  /**
   * Makes the stored tasks those of the declaration. A task whose schedule has changed counts from now on; the others
   * keep their next occurrence.
   *
   * @param now the moment from which new and changed tasks count, in epoch milliseconds
   * @throws {ConfigurationError} `scheduled-task-invalid`; nothing is stored then
   */
  reconcile(now: number = this.#options.deps.clock.now()): void {
    this.#tasks = undefined;
    const declared = this.#options.tasks();
    if (declared.length === 0 && this.#store.isEmpty()) {
      this.#tasks = new Map();
      return;
    }
    const known = new Map(this.#store.tasks().map((task) => [task.id, task]));
    this.#options.database.transaction(() => {
      for (const task of declared) {
        const stored = known.get(task.id);
        const reconciled = this.#reconciled(task, stored, now);
        if (reconciled !== stored) this.#store.saveTask(reconciled);
        known.delete(task.id);
      }
      for (const id of known.keys()) this.#store.removeTask(id);
    });
    this.#tasks = new Map(declared.map((task) => [task.id, task]));
    if (this.#store.nextAt() !== undefined) this.#options.onChange();
  }

  #reconciled(task: CheckedTask, stored: StoredTask | undefined, now: number): StoredTask {
    if (stored === undefined) {
      const anchor = now;
      const fresh = { runs: 0, failures: 0, isPaused: false, sourceHash: undefined, createdAt: now };
      return { id: task.id, rule: task.rule, anchor, next: this.#next(task, now, anchor, 0), ...fresh };
    }
    if (JSON.stringify(stored.rule) !== JSON.stringify(task.rule))
      return { ...stored, rule: task.rule, anchor: now, next: this.#next(task, now, now, stored.runs) };
    const isOver = this.#isOver(task, stored.next?.scheduledFor, stored.runs);
    if (isOver) return stored.next === undefined ? stored : { ...stored, next: undefined };
    if (stored.next !== undefined) return stored;
    const next = this.#next(task, now, stored.anchor, stored.runs);
    return next === undefined ? stored : { ...stored, next };
  }

  #next(task: CheckedTask, after: number, anchor: number, runs: number): StoredTask["next"] {
    const scheduledFor = nextOccurrence(task.rule, after, anchor);
    if (scheduledFor === undefined || this.#isOver(task, scheduledFor, runs)) return undefined;
    return { scheduledFor, runAt: scheduledFor + Math.floor(this.#options.deps.random() * task.jitterMs) };
  }

  #isOver({ count, until }: CheckedTask, scheduledFor: number | undefined, runs: number): boolean {
    if (count !== undefined && runs >= count) return true;
    return until !== undefined && scheduledFor !== undefined && scheduledFor > until;
  }

  /** Does everything that is due, beside everything else. */
  work(): void {
    if (this.#tasks === undefined) return;
    const now = this.#options.deps.clock.now();
    if (now < this.#restUntil) return;
    for (const stored of this.#store.dueTasks(now, MOST_AT_ONCE * 10)) this.#begin(stored, now);
    this.#sweep(now);
    for (const occurrence of this.#store.dueOccurrences(now, MOST_AT_ONCE + this.#stepping.size)) {
      if (this.#stepping.size >= MOST_AT_ONCE) break;
      if (this.#stepping.has(occurrence.key)) continue;
      if (this.#skippedAsTooLate(occurrence, now)) continue;
      this.#stepping.add(occurrence.key);
      void this.#step(withDelay(occurrence, now))
        .catch((error: unknown) => {
          // The storage refuses writes. Without a rest this would be tried again at once, and again.
          this.#restUntil = this.#options.deps.clock.now() + TRY_AGAIN_MS;
          this.#options.log.error("schedule.not-stored", { code: failureCode(error) });
        })
        .finally(() => {
          this.#stepping.delete(occurrence.key);
          this.#options.onChange();
        });
    }
  }

  /** Whether a step is running, which must be made again after a crash. */
  isBusy(): boolean {
    return this.#stepping.size > 0;
  }

  /** Time of the next call of `work`, in epoch milliseconds. */
  nextWakeAt(): number | undefined {
    if (this.#tasks === undefined) return undefined;
    const at = this.#store.nextAt();
    if (at === undefined) return undefined;
    // A running step calls `onChange` when it ends.
    const least = this.isBusy() ? this.#options.deps.clock.now() + TRY_AGAIN_MS : this.#restUntil;
    return Math.max(at, least);
  }

  list({ limit = 100, state, taskId }: OccurrenceFilter = {}): OccurrenceRecord[] {
    const states = state === undefined ? undefined : [state].flat();
    return this.#store.list({ taskId, states, limit: Math.min(limit, 1000) }).map(recordOf);
  }

  /** Returns the tasks of this object, without those that are over. */
  tasks(): Omit<ScheduledTaskRecord, "isMadeInChat" | "madeBy">[] {
    return [...(this.#tasks?.values() ?? [])]
      .filter(({ id }) => !this.isOver(id))
      .map((task) => taskRecord(task, this.#store.task(task.id), this.upcoming(task.id, 3)));
  }

  /**
   * Runs a task now, beside its schedule.
   *
   * @param scheduledFor the time that it runs as if it were, in epoch milliseconds. @default now
   * @returns the key of the occurrence; undefined if there is no such task
   */
  runNow(taskId: string, scheduledFor = this.#options.deps.clock.now()): string | undefined {
    if (this.#tasks?.has(taskId) !== true) return undefined;
    const now = this.#options.deps.clock.now();
    const key = `${occurrenceKey(taskId, scheduledFor)}!${this.#options.deps.newId()}`;
    this.#insert(key, taskId, scheduledFor, { lateMs: 0, now });
    this.#options.onChange();
    return key;
  }

  /** Stops or continues a task. Its next occurrence is then the first one after now. Returns `false` if it is unknown. */
  pause(taskId: string, isPaused: boolean): boolean {
    const task = this.#tasks?.get(taskId);
    const stored = this.#store.task(taskId);
    if (task === undefined || stored === undefined) return false;
    const now = this.#options.deps.clock.now();
    const next = isPaused ? stored.next : this.#next(task, now, stored.anchor, stored.runs);
    this.#store.saveTask({ ...stored, isPaused, next, failures: isPaused ? stored.failures : 0 });
    this.#options.onChange();
    return true;
  }

  /** Leaves out the next occurrence of a task. Returns `false` if it has none. */
  skipNext(taskId: string): boolean {
    const task = this.#tasks?.get(taskId);
    const stored = this.#store.task(taskId);
    if (task === undefined || stored?.next === undefined) return false;
    const next = this.#next(task, stored.next.scheduledFor, stored.anchor, stored.runs);
    this.#store.saveTask({ ...stored, next });
    return true;
  }

  /** Whether a task has no occurrence any more, and none that is open. */
  isOver(taskId: string): boolean {
    return this.#store.task(taskId)?.next === undefined && this.#store.openOf(taskId).length === 0;
  }

  /** Returns the next occurrences of a task, in epoch milliseconds. */
  upcoming(taskId: string, count: number): number[] {
    const task = this.#tasks?.get(taskId);
    const stored = this.#store.task(taskId);
    const found: number[] = [];
    for (let at = stored?.next?.scheduledFor; at !== undefined && found.length < count;) {
      found.push(at);
      at = task && stored && nextOccurrence(task.rule, at, stored.anchor);
    }
    return found;
  }

  /** Returns the occurrences that one wake-up has skipped as too late. @param at that moment, in epoch milliseconds */
  skippedAt(at: number): Occurrence[] {
    return this.#store.skippedAt(at, "too-late");
  }

  /** Returns the tokens and the money that a task has used since a moment. */
  usedSince(taskId: string, since: number): { readonly tokens: number; readonly cost: number } {
    const { cost = 0, input = 0, output = 0 } = sumOfCosts(this.#store.usageSince(taskId, since)) ?? {};
    return { tokens: (input ?? 0) + (output ?? 0), cost: cost ?? 0 };
  }

  /** Stores an occurrence in the middle of a step. */
  save(occurrence: Occurrence): void {
    this.#store.saveOccurrence(occurrence);
  }

  /** Ends turns of earlier occurrences of a task for this chat that wait for the end of the same quiet hours. */
  replaceQuiet({ key, scheduledFor, taskId }: Occurrence, { messengerId, threadId }: Address): void {
    const now = this.#options.deps.clock.now();
    for (const earlier of this.#store.openOf(taskId)) {
      if (earlier.key === key || earlier.scheduledFor >= scheduledFor) continue;
      if (this.#stepping.has(earlier.key) || isAskedFor(earlier.key)) continue;
      const legs = earlier.legs.map((leg): Leg => {
        const isHere = leg.address?.messengerId === messengerId && leg.address.threadId === threadId;
        const isHeld = isHere && !leg.recites && leg.state === "new" && leg.notBefore !== undefined;
        return isHeld ? { ...leg, state: "skipped", code: "missed" } : leg;
      });
      if (legs.some((leg, index) => leg !== earlier.legs[index]))
        this.#store.saveOccurrence({ ...earlier, legs, nextAt: now });
    }
  }

  /** Makes the next step of an occurrence now, because something about it has changed elsewhere. */
  nudge(key: string): void {
    const occurrence = this.#store.occurrence(key);
    if (occurrence === undefined || occurrence.endedAt !== undefined) return;
    const now = this.#options.deps.clock.now();
    if (occurrence.nextAt > now) this.#store.saveOccurrence({ ...occurrence, nextAt: now });
    this.#options.onChange();
  }

  /** Returns the ids of all tasks that are stored, also of those that are not declared any more. */
  storedIds(): string[] {
    return this.#store.tasks().map(({ id }) => id);
  }

  /** Returns a task. Undefined if it is not declared, or not known yet. */
  task(taskId: string): CheckedTask | undefined {
    return this.#tasks?.get(taskId);
  }

  /** Whether this object never had a task. */
  isEmpty(): boolean {
    return this.#store.isEmpty();
  }

  isPaused(taskId: string): boolean {
    return this.#store.task(taskId)?.isPaused === true;
  }

  #begin(stored: StoredTask, now: number): void {
    const task = this.#tasks?.get(stored.id);
    if (task === undefined || stored.next === undefined) return;
    const { runAt, scheduledFor } = stored.next;
    // Occurrences whose own random delay is not over are not missed.
    const reached = now - (runAt - scheduledFor);
    const last = Math.min(reached, task.until ?? reached);
    const intended = latestMissed(stored.rule, scheduledFor, last, stored.anchor);
    const lateMs = Math.max(0, reached - intended);
    const isSkipped = task.ifLate.otherwise === "skip" && lateMs > task.ifLate.runWithinMs;
    this.#options.database.transaction(() => {
      // Occurrences that are missed do not count.
      const runs = stored.runs + 1 - this.#replaceWaiting(task, now);
      if (intended !== scheduledFor)
        this.#insert(occurrenceKey(task.id, scheduledFor), task.id, scheduledFor, {
          lateMs: now - scheduledFor,
          skipped: "missed",
          now,
        });
      this.#insert(occurrenceKey(task.id, intended), task.id, intended, {
        lateMs,
        // People do not read the log.
        ...(isSkipped && { skipped: "too-late", ...(task.requester !== undefined && { news: "too-late" }) }),
        now,
      });
      const next = this.#next(task, Math.max(reached, intended), stored.anchor, runs);
      this.#store.saveTask({ ...stored, runs, next });
    });
    if (isSkipped) this.#options.log.warn("schedule.skipped", { task: task.id, lateMs });
  }

  /**
   * Ends prompts of earlier occurrences that have not begun, or that an outage has kept from their next try. Returns their
   * number.
   */
  #replaceWaiting({ id, work }: CheckedTask, now: number): number {
    let count = 0;
    if (work.kind !== "prompt") return count;
    for (const waiting of this.#store.openOf(id)) {
      const { attempts, key, nextAt, state } = waiting;
      const isHeld = state === "due" && (attempts === 0 || now - nextAt > AWAY_MS);
      if (!isHeld || isAskedFor(key) || this.#stepping.has(key)) continue;
      this.#store.saveOccurrence({ ...waiting, state: "skipped", code: "missed", endedAt: now, nextAt: now });
      count += 1;
    }
    return count;
  }

  /** Ends a prompt that has not begun, or was to be tried again, if the bot was away for too long meanwhile. */
  #skippedAsTooLate(occurrence: Occurrence, now: number): boolean {
    const task = this.#tasks?.get(occurrence.taskId);
    if (task?.work.kind !== "prompt" || occurrence.state !== "due") return false;
    const { ifLate, requester } = task;
    const { lateMs } = withDelay(occurrence, now);
    if (ifLate.otherwise !== "skip" || lateMs <= Math.max(ifLate.runWithinMs, occurrence.lateMs))
      return false;
    const news = requester === undefined ? undefined : ("too-late" as const);
    const skipped = { ...occurrence, lateMs, state: "skipped", code: "too-late", endedAt: now } as const;
    this.#store.saveOccurrence({ ...skipped, nextAt: now, news });
    this.#options.log.warn("schedule.skipped", { task: task.id, lateMs });
    return true;
  }

  #insert(
    key: string,
    taskId: string,
    scheduledFor: number,
    {
      lateMs,
      news,
      now,
      skipped,
    }: {
      readonly lateMs: number;
      readonly news?: OwnerNews;
      readonly now: number;
      readonly skipped?: string;
    },
  ): void {
    if (this.#store.occurrence(key) !== undefined) return;
    this.#store.saveOccurrence({
      key,
      taskId,
      scheduledFor,
      state: skipped === undefined ? "due" : "skipped",
      prompt: undefined,
      text: undefined,
      sourceHash: undefined,
      targets: [],
      isMany: false,
      legs: [],
      spent: undefined,
      attempts: 0,
      lateMs,
      nextAt: now,
      code: skipped,
      createdAt: now,
      startedAt: undefined,
      endedAt: skipped === undefined ? undefined : now,
      troubleSince: undefined,
      news,
    });
  }

  async #step(occurrence: Occurrence): Promise<void> {
    const { log } = this.#options;
    const task = this.#tasks?.get(occurrence.taskId);
    const stored = this.#store.task(occurrence.taskId);
    try {
      if (task === undefined || stored === undefined) {
        if (occurrence.endedAt !== undefined)
          return this.#store.saveOccurrence({ ...occurrence, news: undefined });
        this.#options.onRemoved?.(occurrence);
        return this.#finish(occurrence, { state: "skipped", code: "task-removed" });
      }
      if (occurrence.news !== undefined) {
        const notBefore = await this.#options.tellOwner(task, occurrence, occurrence.news);
        const told = notBefore === undefined ? { news: undefined } : { nextAt: notBefore };
        this.#store.saveOccurrence({ ...occurrence, ...told, troubleSince: undefined });
        return;
      }
      const result = await this.#options.run(occurrence, task, stored);
      if (result.kind === "ended") this.#finish(result.occurrence, result.end);
      else this.#store.saveOccurrence({ ...result.occurrence, troubleSince: undefined });
    } catch (error) {
      logBotFailure(log.with({ task: occurrence.taskId }), "schedule", error);
      this.#tryAgain(occurrence, failureCode(error));
    }
  }

  /** A step could not be made: the storage, another object or the bot's code has failed. */
  #tryAgain({ key }: Occurrence, code: string): void {
    // The step may have stored a part of its work.
    const occurrence = this.#store.occurrence(key);
    if (occurrence === undefined) return;
    const now = this.#options.deps.clock.now();
    // A request for consent may have waited for weeks before.
    const troubleSince = occurrence.troubleSince ?? now;
    const age = now - troubleSince;
    if (age > GIVE_UP_MS) {
      if (occurrence.endedAt === undefined) this.#finish(occurrence, { state: "failed", code });
      else this.#store.saveOccurrence({ ...occurrence, news: undefined });
      return;
    }
    const restMs = Math.min(Math.max(Math.ceil(age / 2), TRY_AGAIN_MS), TRY_AGAIN_MOST_MS);
    this.#store.saveOccurrence({ ...occurrence, troubleSince, nextAt: now + restMs });
  }

  #finish(occurrence: Occurrence, end: OccurrenceEnd): void {
    const { code, state } = end;
    const { database, deps, log } = this.#options;
    const now = deps.clock.now();
    database.transaction(() => {
      const stored = this.#store.task(occurrence.taskId);
      const isPersons = this.#tasks?.get(occurrence.taskId)?.requester !== undefined;
      const isLimited = LIMIT_CODES.some((limit) => limit === code);
      const ofEnd = stored === undefined ? {} : afterEnd(stored, occurrence, end, isPersons);
      const { task } = ofEnd;
      const news = isLimited && this.#isFirstLimit(occurrence.taskId, now) ? "limited" : ofEnd.news;
      if (task !== undefined) this.#store.saveTask(task);
      const ended = { ...occurrence, state, code, text: undefined, endedAt: occurrence.endedAt ?? now };
      this.#store.saveOccurrence({ ...ended, nextAt: now, news });
    });
    const fields = { task: occurrence.taskId, occurrence: occurrence.key, state, code };
    if (state === "failed") log.warn("schedule.failed", fields);
    else log.info("schedule.ended", fields);
  }

  /** Whether no occurrence of the last day was skipped for a limit. */
  #isFirstLimit(taskId: string, now: number): boolean {
    const skipped = this.#store.list({ taskId, states: ["skipped"], limit: 100 });
    return !skipped.some(
      ({ code, endedAt = 0 }) => endedAt > now - DAY_MS && LIMIT_CODES.some((limit) => limit === code),
    );
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    this.#store.sweep(now - KEEP_MS);
  }
}

/** Adds an unplanned delay of a prompt or reminder that has not begun, so that it can say that it is late. */
function withDelay(occurrence: Occurrence, now: number): Occurrence {
  const { lateMs, nextAt, state } = occurrence;
  const delayMs = now - nextAt;
  return state === "due" && delayMs > AWAY_MS ? { ...occurrence, lateMs: lateMs + delayMs } : occurrence;
}
