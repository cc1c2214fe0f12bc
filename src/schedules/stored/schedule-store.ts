import { parseLegs, parseRule, parseTargets } from "./stored-occurrence.ts";
import type { Database } from "../../core/store/database.ts";
import { LazyTables } from "../../core/store/lazy-tables.ts";
import { parseCost } from "../../scheduled-runs/stored-cost.ts";
import { added, defineTable, encoded, flag, integer, Table, text } from "../../core/store/table.ts";
import type { RowOf } from "../../core/store/table.ts";
import type { TurnCost } from "../../core/turn/turn-cost.ts";
import { OPEN_STATES, usageOf } from "../rules/occurrence.ts";
import type { Occurrence, OccurrenceState, OwnerNews } from "../rules/occurrence.ts";

/**
 * The tasks of one object and their occurrences, made with the first task. A task's row has the time of its next
 * occurrence, so a change of the clock or of the declaration never creates one by itself. An occurrence is a row before
 * anything of it runs.
 */
const TASKS = defineTable("scheduled_task_v1", {
  id: text("PRIMARY KEY"),
  rule: encoded(parseRule)("NOT NULL"),
  /** The moment from which an interval counts, in epoch milliseconds. */
  anchor: integer("NOT NULL"),
  scheduledFor: integer(),
  runAt: integer(),
  /** Number of occurrences so far. */
  runs: integer("NOT NULL DEFAULT 0"),
  /** Number of failed occurrences in a row. */
  failures: integer("NOT NULL DEFAULT 0"),
  isPaused: flag("NOT NULL DEFAULT 0"),
  /** Hash of the data that was delivered last. */
  sourceHash: text(),
  createdAt: integer("NOT NULL"),
});
const OCCURRENCES = defineTable(
  "occurrence_v1",
  {
    key: text("PRIMARY KEY"),
    taskId: text("NOT NULL"),
    scheduledFor: integer("NOT NULL"),
    state: text<OccurrenceState>("NOT NULL"),
    prompt: text(),
    text: text(),
    sourceHash: text(),
    targets: encoded<Occurrence["targets"]>(parseTargets)("NOT NULL"),
    isMany: flag("NOT NULL DEFAULT 0"),
    legs: encoded<Occurrence["legs"]>(parseLegs)("NOT NULL"),
    attempts: integer("NOT NULL"),
    lateMs: integer("NOT NULL"),
    nextAt: integer("NOT NULL"),
    code: text(),
    createdAt: integer("NOT NULL"),
    startedAt: integer(),
    endedAt: integer(),
    news: text<OwnerNews>(),
    troubleSince: added(integer()),
    spent: added(encoded(parseCost)()),
  },
  "STRICT, WITHOUT ROWID",
  {
    occurrence_v1_open: "(next_at) WHERE state IN ('due', 'running', 'waiting') OR news IS NOT NULL",
    occurrence_v1_ended: "(ended_at)",
  },
);
const OPEN = "(state IN ('due', 'running', 'waiting') OR news IS NOT NULL)";

/** A task, as far as it is stored. Everything else is in the declaration. */
export interface StoredTask extends Omit<RowOf<typeof TASKS>, "scheduledFor" | "runAt"> {
  /** The next occurrence. Undefined if there is none any more. */
  readonly next: { readonly scheduledFor: number; readonly runAt: number } | undefined;
}

export interface ScheduleStore {
  /** Whether anything was ever stored. */
  readonly isEmpty: () => boolean;
  tasks(): StoredTask[];
  task(id: string): StoredTask | undefined;
  saveTask(task: StoredTask): void;
  removeTask(id: string): void;
  /** Returns tasks with an occurrence that is due, in order of time. */
  dueTasks(now: number, limit: number): StoredTask[];
  occurrence(key: string): Occurrence | undefined;
  saveOccurrence(occurrence: Occurrence): void;
  /** Returns occurrences with a step that is due, in order of time. */
  dueOccurrences(now: number, limit: number): Occurrence[];
  /** Returns the tokens and money of each of a task's occurrences since a moment. */
  usageSince(taskId: string, since: number): (TurnCost | undefined)[];
  /** Returns open occurrences of a task. */
  openOf(taskId: string): Occurrence[];
  /** Returns occurrences that were skipped at a moment, in order of time. */
  skippedAt(moment: number, code: string): Occurrence[];
  /** Returns occurrences, newest first. */
  list(filter: {
    readonly taskId: string | undefined;
    readonly states: readonly OccurrenceState[] | undefined;
    readonly limit: number;
  }): Occurrence[];
  /** Returns the time of the next step or occurrence, in epoch milliseconds. */
  nextAt(): number | undefined;
}

export function createScheduleStore(database: Database): ScheduleStore {
  const tables = new LazyTables(database, TASKS, OCCURRENCES);
  const tasks = new Table(tables, TASKS);
  const occurrences = new Table(tables, OCCURRENCES);

  return {
    isEmpty: () => !tables.ready(),
    tasks: () => tasks.all("ORDER BY id").map(taskOf),
    task: (id) => tasks.all("WHERE id = ?", id).map(taskOf)[0],
    saveTask: ({ next, ...task }) =>
      tasks.put({ ...task, scheduledFor: next?.scheduledFor, runAt: next?.runAt }),
    removeTask: (id) => tables.run("DELETE FROM scheduled_task_v1 WHERE id = ?", id),
    dueTasks: (now, limit) =>
      tasks.all("WHERE run_at <= ? AND is_paused = 0 ORDER BY run_at LIMIT ?", now, limit).map(taskOf),
    occurrence: (key) => occurrences.first("WHERE key = ?", key),
    saveOccurrence: (one) => occurrences.put(one),
    dueOccurrences: (now, limit) =>
      occurrences.all(`WHERE ${OPEN} AND next_at <= ? ORDER BY next_at, scheduled_for LIMIT ?`, now, limit),
    usageSince: (taskId, since) =>
      occurrences.all("WHERE task_id = ? AND created_at >= ?", taskId, since).map(usageOf),
    openOf: (taskId) =>
      occurrences.all(
        "WHERE task_id = ? AND state IN (SELECT value FROM json_each(?))",
        taskId,
        JSON.stringify(OPEN_STATES),
      ),
    skippedAt: (moment, code) =>
      occurrences.all(
        "WHERE ended_at = ? AND state = 'skipped' AND code = ? ORDER BY scheduled_for, key",
        moment,
        code,
      ),
    list: ({ limit, states, taskId }) =>
      occurrences.all(
        `WHERE (? = '' OR task_id = ?) AND (? = '' OR state IN (SELECT value FROM json_each(?)))
         ORDER BY scheduled_for DESC, created_at DESC LIMIT ?`,
        taskId ?? "",
        taskId ?? "",
        states === undefined ? "" : "some",
        JSON.stringify(states ?? []),
        limit,
      ),
    nextAt() {
      const [row] = tables.all<{ at: number | null }>(
        `SELECT min(at) AS at FROM (
           SELECT min(run_at) AS at FROM scheduled_task_v1 WHERE is_paused = 0
           UNION ALL SELECT min(next_at) AS at FROM occurrence_v1 WHERE ${OPEN})`,
      );
      return row?.at ?? undefined;
    },
  };
}

function taskOf({ runAt, scheduledFor, ...task }: RowOf<typeof TASKS>): StoredTask {
  const isOver = scheduledFor === undefined || runAt === undefined;
  return { ...task, next: isOver ? undefined : { scheduledFor, runAt } };
}
