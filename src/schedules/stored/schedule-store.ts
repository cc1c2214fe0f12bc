import { parseLegs, parseRule, parseTargets } from "./stored-occurrence.ts";
import type { Database } from "../../core/database.ts";
import { firstRow } from "../../core/database.ts";
import { parseCost } from "../../scheduled-runs/stored-cost.ts";
import { LazyTables } from "../../core/lazy-tables.ts";
import type { TurnCost } from "../../core/turn-cost.ts";
import { OPEN_STATES, usageOf } from "../rules/occurrence.ts";
import type { Occurrence, OccurrenceState, OwnerNews } from "../rules/occurrence.ts";
import type { Rule } from "../rules/rule.ts";

/**
 * The tasks of one object and their occurrences, made with the first task. A task's row has the time of its next
 * occurrence, so a change of the clock or of the declaration never creates one by itself. An occurrence is a row before
 * anything of it runs.
 */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS scheduled_task_v1 (
    id TEXT PRIMARY KEY, rule TEXT NOT NULL, anchor INTEGER NOT NULL, scheduled_for INTEGER, run_at INTEGER,
    runs INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0, is_paused INTEGER NOT NULL DEFAULT 0,
    source_hash TEXT, created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS occurrence_v1 (
    key TEXT PRIMARY KEY, task_id TEXT NOT NULL, scheduled_for INTEGER NOT NULL, state TEXT NOT NULL, prompt TEXT,
    text TEXT, source_hash TEXT, targets TEXT NOT NULL,
    is_many INTEGER NOT NULL DEFAULT 0, legs TEXT NOT NULL, attempts INTEGER NOT NULL,
    late_ms INTEGER NOT NULL, next_at INTEGER NOT NULL, code TEXT, created_at INTEGER NOT NULL, started_at INTEGER,
    ended_at INTEGER, news TEXT, trouble_since INTEGER, spent TEXT
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS occurrence_v1_open ON occurrence_v1 (next_at) WHERE state IN ('due', 'running', 'waiting') OR news IS NOT NULL",
  "CREATE INDEX IF NOT EXISTS occurrence_v1_ended ON occurrence_v1 (ended_at)",
];
/** Columns that the first table did not have. */
const ADDED = { trouble_since: "INTEGER", spent: "TEXT" };
const OPEN = "(state IN ('due', 'running', 'waiting') OR news IS NOT NULL)";

/** A task, as far as it is stored. Everything else is in the declaration. */
export interface StoredTask {
  readonly id: string;
  readonly rule: Rule;
  /** The moment from which an interval counts, in epoch milliseconds. */
  readonly anchor: number;
  /** The next occurrence. Undefined if there is none any more. */
  readonly next: { readonly scheduledFor: number; readonly runAt: number } | undefined;
  /** Number of occurrences so far. */
  readonly runs: number;
  /** Number of failed occurrences in a row. */
  readonly failures: number;
  readonly isPaused: boolean;
  /** Hash of the data that was delivered last. */
  readonly sourceHash: string | undefined;
  readonly createdAt: number;
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

type TaskRow = {
  id: string;
  rule: string;
  anchor: number;
  scheduled_for: number | null;
  run_at: number | null;
  runs: number;
  failures: number;
  is_paused: number;
  source_hash: string | null;
  created_at: number;
};
type OccurrenceRow = {
  key: string;
  task_id: string;
  scheduled_for: number;
  state: OccurrenceState;
  prompt: string | null;
  text: string | null;
  source_hash: string | null;
  targets: string;
  is_many: number;
  legs: string;
  attempts: number;
  late_ms: number;
  next_at: number;
  code: string | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  news: OwnerNews | null;
  trouble_since: number | null;
  spent: string | null;
};

export function createScheduleStore(database: Database): ScheduleStore {
  const tables = new LazyTables(database, { table: "occurrence_v1", schema: SCHEMA, added: ADDED });
  const tasks = (rest: string, ...bindings: (string | number)[]): StoredTask[] =>
    tables.all<TaskRow>(`SELECT * FROM scheduled_task_v1 ${rest}`, ...bindings).map(taskOf);
  const occurrences = (rest: string, ...bindings: (string | number)[]): Occurrence[] =>
    tables.all<OccurrenceRow>(`SELECT * FROM occurrence_v1 ${rest}`, ...bindings).map(occurrenceOf);

  return {
    isEmpty: () => !tables.ready(),
    tasks: () => tasks("ORDER BY id"),
    task: (id) => firstRow(tasks("WHERE id = ?", id)),
    saveTask(task) {
      tables.make();
      database.run(
        `INSERT OR REPLACE INTO scheduled_task_v1
           (id, rule, anchor, scheduled_for, run_at, runs, failures, is_paused, source_hash, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        task.id,
        JSON.stringify(task.rule),
        task.anchor,
        task.next?.scheduledFor ?? null,
        task.next?.runAt ?? null,
        task.runs,
        task.failures,
        task.isPaused ? 1 : 0,
        task.sourceHash ?? null,
        task.createdAt,
      );
    },
    removeTask(id) {
      tables.run("DELETE FROM scheduled_task_v1 WHERE id = ?", id);
    },
    dueTasks: (now, limit) =>
      tasks("WHERE run_at <= ? AND is_paused = 0 ORDER BY run_at LIMIT ?", now, limit),
    occurrence: (key) => firstRow(occurrences("WHERE key = ?", key)),
    saveOccurrence(one) {
      tables.make();
      database.run(
        `INSERT OR REPLACE INTO occurrence_v1
           (key, task_id, scheduled_for, state, prompt, text, source_hash, targets, is_many, legs, attempts, late_ms, next_at,
            code, created_at, started_at, ended_at, news, trouble_since, spent)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        one.key,
        one.taskId,
        one.scheduledFor,
        one.state,
        one.prompt ?? null,
        one.text ?? null,
        one.sourceHash ?? null,
        JSON.stringify(one.targets),
        one.isMany ? 1 : 0,
        JSON.stringify(one.legs),
        one.attempts,
        one.lateMs,
        one.nextAt,
        one.code ?? null,
        one.createdAt,
        one.startedAt ?? null,
        one.endedAt ?? null,
        one.news ?? null,
        one.troubleSince ?? null,
        one.spent === undefined ? null : JSON.stringify(one.spent),
      );
    },
    dueOccurrences: (now, limit) =>
      occurrences(`WHERE ${OPEN} AND next_at <= ? ORDER BY next_at, scheduled_for LIMIT ?`, now, limit),
    usageSince: (taskId, since) =>
      tables
        .all<Pick<OccurrenceRow, "legs" | "spent">>(
          "SELECT legs, spent FROM occurrence_v1 WHERE task_id = ? AND created_at >= ?",
          taskId,
          since,
        )
        .map(({ legs, spent }) => usageOf({ legs: parseLegs(legs), spent: parseCost(spent) })),
    openOf: (taskId) =>
      occurrences(
        "WHERE task_id = ? AND state IN (SELECT value FROM json_each(?))",
        taskId,
        JSON.stringify(OPEN_STATES),
      ),
    skippedAt: (moment, code) =>
      occurrences(
        "WHERE ended_at = ? AND state = 'skipped' AND code = ? ORDER BY scheduled_for, key",
        moment,
        code,
      ),
    list: ({ limit, states, taskId }) =>
      occurrences(
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

function taskOf(row: TaskRow): StoredTask {
  return {
    id: row.id,
    rule: parseRule(row.rule),
    anchor: row.anchor,
    next:
      row.scheduled_for === null || row.run_at === null
        ? undefined
        : { scheduledFor: row.scheduled_for, runAt: row.run_at },
    runs: row.runs,
    failures: row.failures,
    isPaused: row.is_paused === 1,
    sourceHash: row.source_hash ?? undefined,
    createdAt: row.created_at,
  };
}

function occurrenceOf(row: OccurrenceRow): Occurrence {
  return {
    key: row.key,
    taskId: row.task_id,
    scheduledFor: row.scheduled_for,
    state: row.state,
    prompt: row.prompt ?? undefined,
    text: row.text ?? undefined,
    sourceHash: row.source_hash ?? undefined,
    targets: parseTargets(row.targets),
    isMany: row.is_many === 1,
    legs: parseLegs(row.legs),
    spent: parseCost(row.spent),
    attempts: row.attempts,
    lateMs: row.late_ms,
    nextAt: row.next_at,
    code: row.code ?? undefined,
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
    news: row.news ?? undefined,
    troubleSince: row.trouble_since ?? undefined,
  };
}
