import type { Database } from "../core/database.ts";
import { LazyTables } from "../core/lazy-tables.ts";
import { defineTable, encoded, integer, Table, text } from "../core/table.ts";
import type { RowOf } from "../core/table.ts";

/** Extensions that the bot's code has loaded into this conversation. */
const EXTENSIONS = defineTable("extension_v1", {
  name: text("PRIMARY KEY"),
  manifest: encoded<unknown>((stored) => JSON.parse(stored) as unknown)("NOT NULL"),
  source: text("NOT NULL"),
  loadedAt: integer("NOT NULL"),
});

export type ExtensionRow = RowOf<typeof EXTENSIONS>;

export class ExtensionStore {
  readonly #tables: LazyTables;
  readonly #extensions: Table<typeof EXTENSIONS>;

  constructor(database: Database) {
    this.#tables = new LazyTables(database, EXTENSIONS);
    this.#extensions = new Table(this.#tables, EXTENSIONS);
  }

  /** Returns all, in the order in which they were loaded. */
  all(): readonly ExtensionRow[] {
    return this.#extensions.all("ORDER BY loaded_at, name");
  }

  put(row: ExtensionRow): void {
    this.#extensions.put(row);
  }

  delete(name: string): void {
    this.#tables.run("DELETE FROM extension_v1 WHERE name = ?", name);
  }
}
