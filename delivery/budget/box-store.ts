import type { Database } from "../../src/core/store/database.ts";
import { added, defineTable, encoded, integer, openTable, text } from "../../src/core/store/table.ts";
import type { Table } from "../../src/core/store/table.ts";
import { parseIds, storeIds } from "./id-ranges.ts";

const BOXES = defineTable(
  "box_v1",
  {
    messengerId: text("PRIMARY KEY"),
    box: text("PRIMARY KEY"),
    seen: encoded<Iterable<number>>(parseIds, storeIds)("NOT NULL"),
    postedUpTo: added(integer()),
  },
  "WITHOUT ROWID",
);

export interface StoredBox {
  /** Ids with a known owner. */
  readonly seen: Iterable<number>;
  /** The highest id that the bot's own posts may have; 0 if that is about the newest seen one. */
  readonly postedUpTo: number;
}

/** Stores the ids seen lately in message boxes, one row per box. */
export class BoxStore {
  readonly #boxes: Table<typeof BOXES>;

  constructor(database: Database) {
    this.#boxes = openTable(database, BOXES);
  }

  read(messengerId: string, box: string): StoredBox {
    const row = this.#boxes.first("WHERE messenger_id = ? AND box = ?", messengerId, box);
    return { seen: row?.seen ?? [], postedUpTo: row?.postedUpTo ?? 0 };
  }

  write(messengerId: string, box: string, { postedUpTo, seen }: StoredBox): void {
    this.#boxes.put({ messengerId, box, seen, postedUpTo });
  }
}
