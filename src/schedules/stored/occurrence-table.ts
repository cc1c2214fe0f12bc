import { DAY_MS } from "../../core/time/civil-time.ts";
import { nextOccurrence } from "../rules/next-occurrence.ts";
import type { Rule } from "../rules/rule.ts";
import type { Database } from "../../core/store/database.ts";
import type { Clock } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import { isSameThread } from "../../feature/same-thread.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Leg, Occurrence, OwnerNews } from "../rules/occurrence.ts";
import { isAskedFor, occurrenceKey } from "../../scheduled-runs/occurrence-key.ts";
import type { ScheduleStore, StoredTask } from "./schedule-store.ts";
import type { TaskTable } from "./task-table.ts";

export interface OccurrenceTableOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process is making a step of an occurrence now. */
  readonly isStepping: (key: string) => boolean;
}

/** A step that comes so much later than planned shows that the bot was away. */
const AWAY_MS = 10 * 60_000;

/** Decides which occurrences exist, and which of them are never run because they come too late. */
export class OccurrenceTable {
  readonly #options: OccurrenceTableOptions;
  readonly #store: ScheduleStore;
  readonly #tasks: TaskTable;

  constructor(store: ScheduleStore, tasks: TaskTable, options: OccurrenceTableOptions) {
    this.#store = store;
    this.#tasks = tasks;
    this.#options = options;
  }

  /** Makes the occurrences of a task that are due, and its next one. */
  begin(stored: StoredTask, now: number): void {
    const task = this.#tasks.get(stored.id);
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
        this.insert(occurrenceKey(task.id, scheduledFor), task.id, scheduledFor, {
          lateMs: now - scheduledFor,
          skipped: "missed",
          now,
        });
      this.insert(occurrenceKey(task.id, intended), task.id, intended, {
        lateMs,
        // People do not read the log.
        ...(isSkipped && { skipped: "too-late", ...(task.requester !== undefined && { news: "too-late" }) }),
        now,
      });
      const next = this.#tasks.nextOf(task, Math.max(reached, intended), stored.anchor, runs);
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
      if (!isHeld || isAskedFor(key) || this.#options.isStepping(key)) continue;
      this.#store.saveOccurrence({ ...waiting, state: "skipped", code: "missed", endedAt: now, nextAt: now });
      count += 1;
    }
    return count;
  }

  /** Ends a prompt that has not begun, or was to be tried again, if the bot was away for too long meanwhile. */
  skippedAsTooLate(occurrence: Occurrence, now: number): boolean {
    const task = this.#tasks.get(occurrence.taskId);
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

  /** Stores a new occurrence, unless it is known. */
  insert(
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

  /** Ends turns of earlier occurrences of a task for this chat that wait for the end of the same quiet hours. */
  replaceQuiet({ key, scheduledFor, taskId }: Occurrence, address: Address): void {
    const now = this.#options.clock.now();
    for (const earlier of this.#store.openOf(taskId)) {
      if (earlier.key === key || earlier.scheduledFor >= scheduledFor) continue;
      if (this.#options.isStepping(earlier.key) || isAskedFor(earlier.key)) continue;
      const legs = earlier.legs.map((leg): Leg => {
        const isHere = leg.address !== undefined && isSameThread(leg.address, address);
        const isHeld = isHere && !leg.recites && leg.state === "new" && leg.notBefore !== undefined;
        return isHeld ? { ...leg, state: "skipped", code: "missed" } : leg;
      });
      if (legs.some((leg, index) => leg !== earlier.legs[index]))
        this.#store.saveOccurrence({ ...earlier, legs, nextAt: now });
    }
  }
}

/** Adds an unplanned delay of a prompt or reminder that has not begun, so that it can say that it is late. */
export function withDelay(occurrence: Occurrence, now: number): Occurrence {
  const { lateMs, nextAt, state } = occurrence;
  const delayMs = now - nextAt;
  return state === "due" && delayMs > AWAY_MS ? { ...occurrence, lateMs: lateMs + delayMs } : occurrence;
}

const HOUR_MS = DAY_MS / 24;
const WINDOWS_MS = [HOUR_MS, DAY_MS, 7 * DAY_MS, 32 * DAY_MS, 367 * DAY_MS];

/**
 * Returns the latest occurrence that is not after `now`. It is looked for backwards, so that an absence of a year costs
 * little more than one of an hour.
 *
 * @param first an occurrence that is not after `now`
 */
function latestMissed(rule: Rule, first: number, now: number, anchor: number): number {
  if (rule.kind === "interval") return first + Math.floor((now - first) / rule.everyMs) * rule.everyMs;
  for (const windowMs of WINDOWS_MS) {
    const found = latestIn(rule, Math.max(first, now - windowMs), now, anchor);
    if (found !== undefined) return found;
    if (now - windowMs <= first) return first;
  }
  return latestIn(rule, first, now, anchor) ?? first;
}

function latestIn(rule: Rule, from: number, now: number, anchor: number): number | undefined {
  let latest: number | undefined;
  for (let at = nextOccurrence(rule, from, anchor); at !== undefined && at <= now;) {
    latest = at;
    at = nextOccurrence(rule, at, anchor);
  }
  return latest;
}
