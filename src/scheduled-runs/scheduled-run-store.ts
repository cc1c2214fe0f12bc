import { z } from "zod";
import type { Database } from "../core/database.ts";
import { firstRow } from "../core/database.ts";
import { LazyTables } from "../core/lazy-tables.ts";
import type { ScheduledRun } from "../core/scheduled-run.ts";

const addressSchema = z.object({
  messengerId: z.string(),
  threadId: z.string(),
  chatId: z.string(),
  topicId: z.string().exactOptional(),
  isDirectMessage: z.boolean(),
});

const scheduledRunSchema = z.object({
  schedule: z.object({ keeper: z.string(), taskId: z.string(), revision: z.string() }),
  occurrenceKey: z.string(),
  requester: z
    .object({
      userId: z.string(),
      userName: z.string().exactOptional(),
      fullName: z.string().exactOptional(),
      isChat: z.boolean().exactOptional(),
    })
    .optional(),
  askIn: addressSchema.optional(),
  broadcast: z.object({ id: z.string(), target: z.string() }).optional(),
  shownIn: addressSchema.optional(),
}) satisfies z.ZodType<ScheduledRun>;

/** The turns of scheduled tasks in one conversation, and why one of them could not ask anybody. */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS scheduled_run_v1 (
    turn_id TEXT PRIMARY KEY, run TEXT NOT NULL, problem TEXT, created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS scheduled_run_v1_created ON scheduled_run_v1 (created_at)",
];

export interface ScheduledRunStore {
  get(turnId: string): ScheduledRun | undefined;
  /** Returns the code of the reason why its consent could not be asked. */
  problemOf(turnId: string): string | undefined;
  /** Prepares `add`, outside of its transaction. */
  prepare(): void;
  /** Stores a run, unless it is known. */
  add(turnId: string, run: ScheduledRun, now: number): void;
  setProblem(turnId: string, code: string): void;
}

/** Creates the store. Its table is made with the first run. */
export function createScheduledRunStore(database: Database): ScheduledRunStore {
  const tables = new LazyTables(database, { table: "scheduled_run_v1", schema: SCHEMA });
  const read = (turnId: string): { run: string; problem: string | null } | undefined =>
    firstRow(
      tables.all<{ run: string; problem: string | null }>(
        "SELECT run, problem FROM scheduled_run_v1 WHERE turn_id = ?",
        turnId,
      ),
    );
  return {
    get(turnId) {
      const row = read(turnId);
      return row && scheduledRunSchema.parse(JSON.parse(row.run));
    },
    problemOf: (turnId) => read(turnId)?.problem ?? undefined,
    prepare: () => tables.make(),
    add(turnId, run, now) {
      database.run(
        "INSERT OR IGNORE INTO scheduled_run_v1 (turn_id, run, created_at) VALUES (?, ?, ?)",
        turnId,
        JSON.stringify(run),
        now,
      );
    },
    setProblem: (turnId, code) =>
      tables.run("UPDATE scheduled_run_v1 SET problem = ? WHERE turn_id = ?", code, turnId),
  };
}
