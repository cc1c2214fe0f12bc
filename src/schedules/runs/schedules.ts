import { logBotFailure } from "../../core/time/bot-code.ts";
import type { Deps } from "../../core/base/deps.ts";
import { failureCode } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import type { Address } from "../../core/chat/surface.ts";
import { sumOfCosts } from "../../core/turn/turn-cost.ts";
import { afterEnd, MOST_FAILURES } from "./after-end.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import { recordOf } from "../rules/occurrence.ts";
import type { Leg, Occurrence, OccurrenceFilter, OccurrenceRecord, OwnerNews } from "../rules/occurrence.ts";
import { occurrenceKey } from "../../scheduled-runs/occurrence-key.ts";
import { OccurrenceTable, withDelay } from "../stored/occurrence-table.ts";
import { LIMIT_CODES } from "./step-result.ts";
import type { OccurrenceEnd, StepResult } from "./step-result.ts";
import { createScheduleStore } from "../stored/schedule-store.ts";
import type { ScheduleStore, StoredTask } from "../stored/schedule-store.ts";
import { TaskTable } from "../stored/task-table.ts";
import type { TaskTableOptions } from "../stored/task-table.ts";
import { Sweep } from "../../core/store/sweep-store.ts";

export interface SchedulesOptions extends TaskTableOptions {
  readonly deps: Pick<Deps, "clock" | "newId" | "random">;
  readonly log: Log;
  /** Does the next step of an occurrence. */
  run(occurrence: Occurrence, task: CheckedTask, stored: StoredTask): Promise<StepResult>;
  /** Sends a message to the owner of a task, at most once for the occurrence. */
  tellOwner(task: CheckedTask, occurrence: Occurrence, news: OwnerNews): Promise<OwnerTold>;
  /** Ends the turns of an occurrence whose task was removed. May be called again after a crash. */
  onRemoved?(occurrence: Occurrence): Promise<void>;
}

/**
 * - `told`: the message is stored in the outbox
 * - `not-told`: the task has no owner, or the owner's chat cannot be written to
 * - `later`: the owner's chat is quiet until `at`, in epoch milliseconds
 */
export type OwnerTold =
  | { readonly kind: "told" | "not-told" }
  | { readonly kind: "later"; readonly at: number };

const MOST_AT_ONCE = 10;
/** A step that cannot be made now is tried again after this, and given up after a day. */
const TRY_AGAIN_MS = 5000;
const TRY_AGAIN_MOST_MS = 5 * 60_000;
const DAY_MS = 24 * 3_600_000;
const GIVE_UP_MS = DAY_MS;
const KEEP_MS = 90 * DAY_MS;
const SWEEP_EVERY_MS = 3_600_000;

/**
 * The scheduled tasks of one object. `OccurrenceTable` decides which occurrences exist; this class makes their steps when
 * they are due, with `run`.
 *
 * 1. An occurrence is a row before anything of it runs, and its task's next occurrence is stored with it. So a crash
 *    neither loses one nor makes two of it.
 * 2. A late wake-up creates one occurrence, the latest that was missed. Earlier ones leave one row that says so. A
 *    prompt that waits for the end of quiet hours gives way to the next occurrence in the same way.
 * 3. Occurrences are independent: one that fails or waits never blocks later ones.
 * 4. Each message to the owner is stored with the end that it is about. A task pauses itself only after its owner was
 *    told how to resume it.
 */
export class Schedules {
  readonly #options: SchedulesOptions;
  readonly #store: ScheduleStore;
  readonly tasks: TaskTable;
  readonly #occurrences: OccurrenceTable;
  /** Keys of the occurrences whose step this process is making. */
  readonly #stepping = new Set<string>();
  /** Keys of those of them about which something has changed since the step began. */
  readonly #nudged = new Set<string>();
  readonly #sweep: Sweep;
  #restUntil = 0;

  constructor(options: SchedulesOptions) {
    this.#options = options;
    const { database, deps, log } = options;
    this.#store = createScheduleStore(database);
    this.tasks = new TaskTable(this.#store, options);
    const old = { table: "occurrence_v1", since: "ended_at", where: "news IS NULL", keepMs: KEEP_MS };
    this.#sweep = new Sweep(database, deps.clock, [old], SWEEP_EVERY_MS);
    this.#occurrences = new OccurrenceTable(this.#store, this.tasks, {
      database,
      clock: deps.clock,
      log,
      isStepping: (key) => this.#stepping.has(key),
    });
  }

  /** Does everything that is due, beside everything else. */
  work(): void {
    if (!this.tasks.isKnown) return;
    const now = this.#options.deps.clock.now();
    if (now < this.#restUntil) return;
    for (const stored of this.#store.dueTasks(now, MOST_AT_ONCE * 10)) this.#occurrences.begin(stored, now);
    this.#sweep.run();
    for (const occurrence of this.#store.dueOccurrences(now, MOST_AT_ONCE + this.#stepping.size)) {
      if (this.#stepping.size >= MOST_AT_ONCE) break;
      if (this.#stepping.has(occurrence.key)) continue;
      if (this.#occurrences.skippedAsTooLate(occurrence, now)) continue;
      this.#stepping.add(occurrence.key);
      void this.#step(withDelay(occurrence, now))
        .catch((error: unknown) => {
          // The storage refuses writes. Without a rest this would be tried again at once, and again.
          this.#restUntil = this.#options.deps.clock.now() + TRY_AGAIN_MS;
          this.#options.log.error("schedule.not-stored", { code: failureCode(error) });
        })
        .finally(() => {
          this.#stepping.delete(occurrence.key);
          this.#nudged.delete(occurrence.key);
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
    if (!this.tasks.isKnown) return undefined;
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

  /**
   * Runs a task now, beside its schedule.
   *
   * @param scheduledFor the time that it runs as if it were, in epoch milliseconds. @default now
   * @returns the key of the occurrence; undefined if there is no such task
   */
  runNow(taskId: string, scheduledFor = this.#options.deps.clock.now()): string | undefined {
    if (this.tasks.get(taskId) === undefined) return undefined;
    const now = this.#options.deps.clock.now();
    const key = `${occurrenceKey(taskId, scheduledFor)}!${this.#options.deps.newId()}`;
    this.#occurrences.insert(key, taskId, scheduledFor, { lateMs: 0, now });
    this.#options.onChange();
    return key;
  }

  /** Returns the occurrences of a task that have not ended. */
  openOf(taskId: string): Occurrence[] {
    return this.#store.openOf(taskId);
  }

  /** Skips the turns of a task that have not begun, because somebody has stopped the task for good. */
  skipUnbegun(taskId: string, code: string): void {
    const now = this.#options.deps.clock.now();
    for (const open of this.#store.openOf(taskId)) {
      if (this.#stepping.has(open.key)) continue;
      if (open.state === "due") this.#finish(open, { state: "skipped", code });
      if (open.state === "due" || !open.legs.some(({ state }) => state === "new")) continue;
      const legs = open.legs.map((leg): Leg =>
        leg.state === "new" ? { ...leg, state: "skipped", code } : leg,
      );
      this.#store.saveOccurrence({ ...open, legs, nextAt: now });
    }
    this.#options.onChange();
  }

  /** Returns the occurrences that one wake-up has skipped as too late. @param at that moment, in epoch milliseconds */
  skippedAt(at: number): Occurrence[] {
    return this.#store.skippedAt(at, "too-late");
  }

  /** Returns the tokens and the money that a task has used since a moment. */
  usedSince(taskId: string, since: number): { readonly tokens: number; readonly cost: number } {
    const { cost = 0, input = 0, output = 0 } = sumOfCosts(this.#store.usageSince(taskId, since)) ?? {};
    return { tokens: input + output, cost };
  }

  /** Stores an occurrence in the middle of a step. */
  save(occurrence: Occurrence): void {
    this.#store.saveOccurrence(occurrence);
  }

  /** Ends turns of earlier occurrences of a task for this chat that wait for the end of the same quiet hours. */
  replaceQuiet(newer: Occurrence, address: Address): void {
    this.#occurrences.replaceQuiet(newer, address);
  }

  /** Makes the next step of an occurrence now, because something about it has changed elsewhere. */
  nudge(key: string): void {
    const occurrence = this.#store.occurrence(key);
    if (occurrence === undefined || occurrence.endedAt !== undefined) return;
    if (this.#stepping.has(key)) this.#nudged.add(key);
    const now = this.#options.deps.clock.now();
    if (occurrence.nextAt > now) this.#store.saveOccurrence({ ...occurrence, nextAt: now });
    this.#options.onChange();
  }

  async #step(occurrence: Occurrence): Promise<void> {
    const { log } = this.#options;
    const task = this.tasks.get(occurrence.taskId);
    const stored = this.#store.task(occurrence.taskId);
    try {
      if (task === undefined || stored === undefined) {
        if (occurrence.endedAt !== undefined)
          return this.#store.saveOccurrence({ ...occurrence, news: undefined });
        await this.#options.onRemoved?.(occurrence);
        return this.#finish(occurrence, { state: "skipped", code: "task-removed" });
      }
      if (occurrence.news !== undefined) {
        return this.#told(occurrence, await this.#options.tellOwner(task, occurrence, occurrence.news));
      }
      const result = await this.#options.run(occurrence, task, stored);
      if (result.kind === "ended") this.#finish(result.occurrence, result.end);
      else this.#continue(result.occurrence);
    } catch (error) {
      logBotFailure(log.with({ task: occurrence.taskId }), "schedule", error);
      this.#tryAgain(occurrence, failureCode(error));
    }
  }

  #told(occurrence: Occurrence, told: OwnerTold): void {
    const { news, taskId } = occurrence;
    const rest = told.kind === "later" ? { nextAt: told.at } : { news: undefined };
    this.#options.database.transaction(() => {
      this.#store.saveOccurrence({ ...occurrence, ...rest, troubleSince: undefined });
      const task = this.#store.task(taskId);
      const pauses = news === "paused" && told.kind === "told";
      if (pauses && task !== undefined && task.failures >= MOST_FAILURES)
        this.#store.saveTask({ ...task, isPaused: true });
    });
  }

  /** Stores an occurrence that goes on. It may lack changes that others made during the step. */
  #continue(occurrence: Occurrence): void {
    const isRemoved = this.tasks.get(occurrence.taskId) === undefined;
    const isOutdated = this.#nudged.delete(occurrence.key) || isRemoved;
    const nextAt = isOutdated ? this.#options.deps.clock.now() : occurrence.nextAt;
    this.#store.saveOccurrence({ ...occurrence, nextAt, troubleSince: undefined });
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
    const failures = database.transaction(() => {
      const stored = this.#store.task(occurrence.taskId);
      const declared = this.tasks.get(occurrence.taskId);
      const isLimited = LIMIT_CODES.some((limit) => limit === code);
      const ofEnd = stored === undefined ? {} : afterEnd(stored, occurrence, end, declared);
      const { task } = ofEnd;
      const news = isLimited && this.#isFirstLimit(occurrence.taskId, now) ? "limited" : ofEnd.news;
      if (task !== undefined) this.#store.saveTask(task);
      const ended = { ...occurrence, state, code, text: undefined, endedAt: occurrence.endedAt ?? now };
      this.#store.saveOccurrence({ ...ended, nextAt: now, news });
      return Math.max(stored?.failures ?? 0, task?.failures ?? 0);
    });
    // In a row, this one among them; of a success, those before it.
    const inARow = failures > 0 && state !== "skipped" && { failures };
    const fields = { task: occurrence.taskId, occurrence: occurrence.key, state, code, ...inARow };
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
}
