import { addMissingColumns } from "../../src/core/add-missing-columns.ts";
import type { Database } from "../../src/core/database.ts";
import { parseIds, runsOf } from "./id-ranges.ts";

const SCHEMA = `CREATE TABLE IF NOT EXISTS box_v1 (
  messenger_id TEXT NOT NULL,
  box TEXT NOT NULL,
  seen TEXT NOT NULL,
  posted_up_to INTEGER,
  PRIMARY KEY (messenger_id, box)
) WITHOUT ROWID`;

export interface StoredBox {
  /** Ids with a known owner. */
  readonly seen: Iterable<number>;
  /** The highest id that the bot's own posts may have; 0 if that is about the newest seen one. */
  readonly postedUpTo: number;
}

/** Stores the ids seen lately in message boxes, one row per box. */
export class BoxStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.run(SCHEMA);
    addMissingColumns(database, "box_v1", { posted_up_to: "INTEGER" });
  }

  read(messengerId: string, box: string): StoredBox {
    const [row] = this.#database.all<{ seen: string; posted_up_to: number | null }>(
      "SELECT seen, posted_up_to FROM box_v1 WHERE messenger_id = ? AND box = ?",
      messengerId,
      box,
    );
    return { seen: row === undefined ? [] : parseIds(row.seen), postedUpTo: row?.posted_up_to ?? 0 };
  }

  write(messengerId: string, box: string, { postedUpTo, seen }: StoredBox): void {
    this.#database.run(
      "INSERT OR REPLACE INTO box_v1 (messenger_id, box, seen, posted_up_to) VALUES (?, ?, ?, ?)",
      messengerId,
      box,
      JSON.stringify(runsOf(seen)),
      postedUpTo,
    );
  }
}
