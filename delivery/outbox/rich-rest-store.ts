import type { Database } from "../../src/core/database.ts";
import { LazyTables } from "../../src/core/lazy-tables.ts";
import { defineTable, integer, Table, text } from "../../src/core/table.ts";

/** Messengers whose platform does not accept rich messages, and until when this is assumed. */
export interface RichRestStore {
  /** Returns the time in epoch milliseconds. Undefined if the messenger has never been paused. */
  restsUntil(messengerId: string): number | undefined;
  rest(messengerId: string, until: number): void;
}

const RESTS = defineTable(
  "rich_rest_v1",
  { messengerId: text("PRIMARY KEY"), until: integer("NOT NULL") },
  "WITHOUT ROWID",
);

/** Opens the store. Most bots never need its table, so it is created with the first row. */
export function createRichRestStore(database: Database): RichRestStore {
  const rests = new Table(new LazyTables(database, RESTS), RESTS);
  return {
    restsUntil: (messengerId) => rests.first("WHERE messenger_id = ?", messengerId)?.until,
    rest: (messengerId, until) => rests.put({ messengerId, until }),
  };
}
