import { z } from "zod";
import type { Json } from "../core/message/content.ts";
import type { Database } from "../core/store/database.ts";
import { checked, defineTable, encoded, integer, lazyTable, text } from "../core/store/table.ts";
import type { RowOf, Table } from "../core/store/table.ts";

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
  readonly #entries: Table<typeof ENTRIES>;

  constructor(database: Database) {
    this.#entries = lazyTable(database, ENTRIES);
  }

  of(run: string): readonly RunLogRow[] {
    return this.#entries.all("WHERE run = ? ORDER BY position", run);
  }

  /** Adds an entry, or the result of one that has none. */
  write(row: RunLogRow): void {
    this.#entries.put(row);
  }

  forget(run: string): void {
    this.#entries.delete("WHERE run = ?", run);
  }

  /** Deletes one entry. */
  drop(run: string, position: number): void {
    this.#entries.delete("WHERE run = ? AND position = ?", run, position);
  }

  /** Makes the table, which most objects never need. Called outside of the transaction of the first entry. */
  makeTable(): void {
    this.#entries.make();
  }
}
