import { z } from "zod";
import type { Database } from "../../core/store/database.ts";
import { checked, defineTable, integer, openTable, text } from "../../core/store/table.ts";
import type { RowOf, Table } from "../../core/store/table.ts";

/**
 * - `pending`: the run has begun, and its outcome is not stored
 * - `asking`: it was dropped, because it waits for a person's answer
 * - `settled`: it ended; `output` is its result
 * - `unknown`: it was stopped or took too long, and may have had its effect
 */
const stateSchema = z.enum(["pending", "asking", "settled", "unknown"]);

/** Runs of actions. A row holds the result of an action, never its input. */
const RUNS = defineTable("action_v1", {
  key: text("PRIMARY KEY"),
  action: text("NOT NULL"),
  inputHash: text("NOT NULL"),
  state: checked(stateSchema)("NOT NULL"),
  runId: text("NOT NULL"),
  /** Name of the object that runs it. */
  claimant: text("NOT NULL"),
  /** Tells the lives of the claimant apart. */
  process: text("NOT NULL"),
  attempt: integer("NOT NULL"),
  /** JSON. */
  output: text(),
  /** Epoch milliseconds. */
  startedAt: integer("NOT NULL"),
  endedAt: integer(),
});

export type LedgerRow = RowOf<typeof RUNS>;

export class LedgerStore {
  readonly #database: Database;
  readonly #runs: Table<typeof RUNS>;

  constructor(database: Database) {
    this.#database = database;
    this.#runs = openTable(database, RUNS);
  }

  get(key: string): LedgerRow | undefined {
    return this.#runs.first("WHERE key = ?", key);
  }

  write(row: LedgerRow): void {
    this.#runs.put(row);
  }

  delete(key: string): void {
    this.#database.run("DELETE FROM action_v1 WHERE key = ?", key);
  }
}
