import type { Database } from "../../src/core/database.ts";
import { firstRow } from "../../src/core/database.ts";
import { LazyTables } from "../../src/core/lazy-tables.ts";

/** Messengers whose platform does not accept rich messages, and until when this is assumed. */
export interface RichRestStore {
  /** Returns the time in epoch milliseconds. Undefined if the messenger has never been paused. */
  restsUntil(messengerId: string): number | undefined;
  rest(messengerId: string, until: number): void;
}

const SCHEMA = `CREATE TABLE IF NOT EXISTS rich_rest_v1 (
  messenger_id TEXT PRIMARY KEY,
  until INTEGER NOT NULL
) WITHOUT ROWID`;

/** Opens the store. Most bots never need its table, so it is created with the first row. */
export function createRichRestStore(database: Database): RichRestStore {
  const tables = new LazyTables(database, { table: "rich_rest_v1", schema: [SCHEMA] });
  return {
    restsUntil: (messengerId) =>
      firstRow(
        tables.all<{ until: number }>("SELECT until FROM rich_rest_v1 WHERE messenger_id = ?", messengerId),
      )?.until,
    rest(messengerId, until) {
      tables.make();
      database.run("INSERT OR REPLACE INTO rich_rest_v1 VALUES (?, ?)", messengerId, until);
    },
  };
}
