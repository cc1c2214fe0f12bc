import { addMissingColumns } from "./add-missing-columns.ts";
import type { Database, SqlValue } from "./database.ts";

/** A table of a store. */
export interface StoredTable {
  readonly table: string;
  /** Statements that make the table and its indexes. Each has `IF NOT EXISTS`. */
  readonly schema: readonly string[];
  /** Columns that an earlier release did not have, with their types. @default none */
  readonly added?: Readonly<Record<string, string>>;
}

/**
 * The tables of a store that most objects never need. They are made with the store's first row, so an object that never
 * uses the store has none of them.
 */
export class LazyTables {
  readonly #database: Database;
  readonly #tables: readonly StoredTable[];
  /** True once the tables are certain to stay, with all their columns. */
  #isThere = false;
  /** True while the run of code goes on that has made the tables. A transaction around it may take them away again. */
  #hasMade = false;

  /** @param tables the last one, which was added last, tells whether all of them exist */
  constructor(database: Database, ...tables: readonly StoredTable[]) {
    this.#database = database;
    this.#tables = tables;
  }

  /** Returns whether the tables exist. Adds the columns that a table of an earlier release lacks, once. */
  ready(): boolean {
    if (this.#isThere) return true;
    const table = this.#tables.at(-1)?.table ?? "";
    if (this.#database.history?.isMissing(table) === true) return false;
    const isThere = this.#database.history?.isNew(table) === false || this.#isFound(table);
    const changed = this.#tables.filter(
      ({ added, table }) => isThere && addMissingColumns(this.#database, table, added),
    );
    // A transaction that fails takes new columns away again. Another store may make a table that is not there.
    if (isThere && changed.length === 0 && !this.#hasMade) this.#isThere = true;
    return isThere;
  }

  #isFound(table: string): boolean {
    const statement = "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?";
    return this.#database.all(statement, table).length > 0;
  }

  /** Makes the tables. Call it before a row is added, if possible outside of a transaction that may fail. */
  make(): void {
    if (this.ready() && !this.#hasMade) return;
    for (const { schema } of this.#tables) for (const statement of schema) this.#database.run(statement);
    this.#hasMade = true;
    this.#isThere = false;
    // Transactions are synchronous: each one has ended by then.
    queueMicrotask(() => {
      this.#hasMade = false;
    });
  }

  /** Returns the rows of a statement. None if the tables do not exist. */
  all<Row extends Record<string, SqlValue>>(statement: string, ...bindings: readonly SqlValue[]): Row[] {
    return this.ready() ? this.#database.all<Row>(statement, ...bindings) : [];
  }

  /** Runs a statement that changes or deletes rows. Does nothing if the tables do not exist. */
  run(statement: string, ...bindings: readonly SqlValue[]): void {
    if (this.ready()) this.#database.run(statement, ...bindings);
  }
}
