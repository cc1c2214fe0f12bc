import type { Database } from "../../core/store/database.ts";
import { defineTable, integer, lazyTable, text } from "../../core/store/table.ts";
import type { RowOf, Table } from "../../core/store/table.ts";

/** Values that actions keep, and their active contexts. */
const STATES = defineTable("action_state_v1", {
  key: text("PRIMARY KEY"),
  /** JSON. */
  value: text("NOT NULL"),
  /** Version of the value's schema. */
  version: integer("NOT NULL"),
  /** Another one after every change. */
  revision: text("NOT NULL"),
  changedAt: integer("NOT NULL"),
});

export class ActionStateStore {
  readonly #states: Table<typeof STATES>;

  constructor(database: Database) {
    this.#states = lazyTable(database, STATES);
  }

  get(key: string): RowOf<typeof STATES> | undefined {
    return this.#states.first("WHERE key = ?", key);
  }

  /** Returns the values from the first key up to, and without, the second. */
  between(from: string, to: string): RowOf<typeof STATES>[] {
    return this.#states.all("WHERE key >= ? AND key < ?", from, to);
  }

  /** Deletes those of them that were not changed since. */
  deleteOlder(from: string, to: string, since: number): void {
    this.#states.delete("WHERE key >= ? AND key < ? AND changed_at <= ?", from, to, since);
  }

  put(row: RowOf<typeof STATES>): void {
    this.#states.put(row);
  }

  delete(key: string): void {
    this.#states.delete("WHERE key = ?", key);
  }
}
