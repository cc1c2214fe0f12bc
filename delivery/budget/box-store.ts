import type { Database } from "../../src/core/database.ts";
import { parseIds, runsOf } from "./id-ranges.ts";

const SCHEMA = `CREATE TABLE IF NOT EXISTS box_v1 (
  messenger_id TEXT NOT NULL,
  box TEXT NOT NULL,
  seen TEXT NOT NULL,
  PRIMARY KEY (messenger_id, box)
) WITHOUT ROWID`;

/** Stores the ids seen lately in message boxes, one row per box. */
export class BoxStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.run(SCHEMA);
  }

  read(messengerId: string, box: string): number[] {
    return this.#database
      .all<{ seen: string }>("SELECT seen FROM box_v1 WHERE messenger_id = ? AND box = ?", messengerId, box)
      .flatMap(({ seen }) => parseIds(seen));
  }

  write(messengerId: string, box: string, seen: Iterable<number>): void {
    const runs = JSON.stringify(runsOf(seen));
    this.#database.run("INSERT OR REPLACE INTO box_v1 VALUES (?, ?, ?)", messengerId, box, runs);
  }
}
