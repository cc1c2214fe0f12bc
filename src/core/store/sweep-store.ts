import { DAY_MS } from "../time/civil-time.ts";
import type { Database } from "./database.ts";
import type { Clock } from "../base/deps.ts";
import { LazyTables } from "./lazy-tables.ts";

/** Rows that nobody needs any more. */
export interface OldRows {
  readonly table: string;
  /** The column, or expression, that tells since when a row is old, in epoch milliseconds. Null: it is not. */
  readonly since: string;
  readonly keepMs: number | (() => number);
  /** Only these rows. @default all */
  readonly where?: string;
  /** Primary key of a table that may have many old rows: at most 500 are deleted at once. */
  readonly key?: string;
}

const MOST_ROWS = 500;

/** Deletes old rows of one object, at most once in a while. Tables that do not exist have none. */
export class Sweep {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #rows: readonly (OldRows & { readonly tables: LazyTables })[];
  #sweptAt = -Infinity;

  constructor(database: Database, clock: Clock, rows: readonly OldRows[], everyMs = DAY_MS) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#rows = rows.map((old) => ({
      ...old,
      tables: new LazyTables(database, { table: old.table, schema: [] }),
    }));
  }

  /** Returns whether it was time for it. */
  run(): boolean {
    const now = this.#clock.now();
    if (now - this.#sweptAt < this.#everyMs) return false;
    this.#sweptAt = now;
    for (const { keepMs, key, since, table, tables, where = "TRUE" } of this.#rows) {
      const old = `${table} WHERE (${since}) < ? AND (${where})`;
      tables.run(
        key === undefined
          ? `DELETE FROM ${old}`
          : `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${old} LIMIT ${MOST_ROWS})`,
        now - (typeof keepMs === "number" ? keepMs : keepMs()),
      );
    }
    return true;
  }
}
