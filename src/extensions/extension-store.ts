import type { Database } from "../core/store/database.ts";
import { defineTable, encoded, integer, lazyTable, text } from "../core/store/table.ts";
import type { RowOf, Table } from "../core/store/table.ts";

/** Extensions that the bot's code has loaded into this conversation. */
const EXTENSIONS = defineTable("extension_v1", {
  name: text("PRIMARY KEY"),
  manifest: encoded<unknown>((stored) => JSON.parse(stored) as unknown)("NOT NULL"),
  source: text("NOT NULL"),
  loadedAt: integer("NOT NULL"),
});

export type ExtensionRow = RowOf<typeof EXTENSIONS>;

export class ExtensionStore {
  readonly #extensions: Table<typeof EXTENSIONS>;

  constructor(database: Database) {
    this.#extensions = lazyTable(database, EXTENSIONS);
  }

  /** Returns all, in the order in which they were loaded. */
  all(): readonly ExtensionRow[] {
    return this.#extensions.all("ORDER BY loaded_at, name");
  }

  put(row: ExtensionRow): void {
    this.#extensions.put(row);
  }

  delete(name: string): void {
    this.#extensions.delete("WHERE name = ?", name);
  }
}
