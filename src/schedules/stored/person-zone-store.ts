import type { Database } from "../../core/database.ts";
import { firstRow } from "../../core/database.ts";
import { LazyTables } from "../../core/lazy-tables.ts";

/** The time zones of people, at the root: each person is asked once, in whatever conversation. */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS zone_v1 (
    messenger_id TEXT NOT NULL, user_id TEXT NOT NULL, zone TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (messenger_id, user_id)
  ) STRICT, WITHOUT ROWID`,
];

/** A person, as one messenger knows them. */
export interface ZonedPerson {
  readonly messengerId: string;
  readonly userId: string;
}

export interface PersonZoneStore {
  get(person: ZonedPerson): string | undefined;
  set(person: ZonedPerson, zone: string, now: number): void;
}

/** Creates the store. Its table is made with the first zone. */
export function createPersonZoneStore(database: Database): PersonZoneStore {
  const tables = new LazyTables(database, { table: "zone_v1", schema: SCHEMA });
  return {
    get: ({ messengerId, userId }) =>
      firstRow(
        tables.all<{ zone: string }>(
          "SELECT zone FROM zone_v1 WHERE messenger_id = ? AND user_id = ?",
          messengerId,
          userId,
        ),
      )?.zone,
    set({ messengerId, userId }, zone, now) {
      tables.make();
      database.run(
        "INSERT OR REPLACE INTO zone_v1 (messenger_id, user_id, zone, at) VALUES (?, ?, ?, ?)",
        messengerId,
        userId,
        zone,
        now,
      );
    },
  };
}
