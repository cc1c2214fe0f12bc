import { z } from "zod";
import type { Database } from "../core/store/database.ts";
import { addressSchema, personSchema } from "../core/chat/stored-address.ts";
import { defineTable, integer, json, lazyTable, text } from "../core/store/table.ts";
import type { ScheduledRun } from "../core/turn/scheduled-run.ts";

const scheduledRunSchema = z.object({
  schedule: z.object({
    keeper: z.string(),
    taskId: z.string(),
    revision: z.string(),
    agent: z.string().optional(),
  }),
  occurrenceKey: z.string(),
  requester: personSchema.optional(),
  askIn: addressSchema.optional(),
  asksOwner: z.boolean().optional(),
  broadcast: z.object({ id: z.string(), target: z.string() }).optional(),
  shownIn: addressSchema.optional(),
  delegation: z
    .object({
      people: z.array(personSchema),
      payer: z.object({ messengerId: z.string(), chatId: z.string(), userId: z.string() }).optional(),
      keepUsageMs: z.number(),
      depth: z.number(),
      canAsk: z.boolean(),
    })
    .optional(),
} satisfies Record<keyof ScheduledRun, z.ZodType>);

/** The turns of scheduled tasks in one conversation, and why one of them could not ask anybody. */
const RUNS = defineTable(
  "scheduled_run_v1",
  {
    turnId: text("PRIMARY KEY"),
    run: json<ScheduledRun>(scheduledRunSchema)("NOT NULL"),
    problem: text(),
    createdAt: integer("NOT NULL"),
  },
  "STRICT, WITHOUT ROWID",
  { scheduled_run_v1_created: "(created_at)" },
);

export interface ScheduledRunStore {
  get(turnId: string): ScheduledRun | undefined;
  /** Returns any of the runs. */
  first(): ScheduledRun | undefined;
  /** Returns the code of the reason why its consent could not be asked. */
  problemOf(turnId: string): string | undefined;
  /** Prepares `add`, outside of its transaction. */
  prepare(): void;
  /** Stores a run, unless it is known. */
  add(turnId: string, run: ScheduledRun, now: number): void;
  setProblem(turnId: string, code: string): void;
  /** Stores that the keeper of a run asks nobody for it any more. */
  asksItself(turnId: string): void;
}

/** Creates the store. Its table is made with the first run. */
export function createScheduledRunStore(database: Database): ScheduledRunStore {
  const runs = lazyTable(database, RUNS);
  return {
    get: (turnId) => runs.first("WHERE turn_id = ?", turnId)?.run,
    first: () => runs.first("LIMIT 1")?.run,
    problemOf: (turnId) => runs.first("WHERE turn_id = ?", turnId)?.problem,
    prepare: () => runs.make(),
    add: (turnId, run, now) => void runs.insertNew({ turnId, run, createdAt: now }),
    setProblem: (turnId, code) => runs.update({ problem: code }, "WHERE turn_id = ?", turnId),
    asksItself(turnId) {
      const run = runs.first("WHERE turn_id = ?", turnId)?.run;
      if (run?.delegation === undefined) return;
      const delegation = { ...run.delegation, canAsk: false };
      runs.update({ run: { ...run, delegation } }, "WHERE turn_id = ?", turnId);
    },
  };
}
