import { z } from "zod";
import type { Json } from "../core/content.ts";
import type { Database } from "../core/database.ts";
import { LazyTables } from "../core/lazy-tables.ts";
import { checked, defineTable, encoded, integer, Table, text } from "../core/table.ts";
import type { RowOf } from "../core/table.ts";

const parsed = encoded<Json>((stored) => JSON.parse(stored) as Json);

/** Questions and steps of runs. `run` is the key of the call in the ledger. */
const ENTRIES = defineTable("run_log_v1", {
  run: text("PRIMARY KEY"),
  position: integer("PRIMARY KEY"),
  kind: checked(z.enum(["question", "step"]))("NOT NULL"),
  hash: text("NOT NULL"),
  label: text("NOT NULL"),
  /** JSON. NULL while a question is open. */
  result: parsed(),
  /** Epoch milliseconds. */
  createdAt: integer("NOT NULL"),
});

export type RunLogRow = RowOf<typeof ENTRIES>;

export class RunLogStore {
  readonly #tables: LazyTables;
  readonly #entries: Table<typeof ENTRIES>;

  constructor(database: Database) {
    this.#tables = new LazyTables(database, ENTRIES);
    this.#entries = new Table(this.#tables, ENTRIES);
  }

  of(run: string): readonly RunLogRow[] {
    return this.#entries.all("WHERE run = ? ORDER BY position", run);
  }

  /** Adds an entry, or the result of one that has none. */
  write(row: RunLogRow): void {
    this.#entries.put(row);
  }

  forget(run: string): void {
    this.#tables.run("DELETE FROM run_log_v1 WHERE run = ?", run);
  }

  /** Deletes one entry. */
  drop(run: string, position: number): void {
    this.#tables.run("DELETE FROM run_log_v1 WHERE run = ? AND position = ?", run, position);
  }

  /** Makes the table, which most objects never need. Called outside of the transaction of the first entry. */
  makeTable(): void {
    this.#tables.make();
  }
}
