import type { Database } from "../core/database.ts";
import { firstRow } from "../core/database.ts";

/** The time zones of people, at the root: each person is asked once, in whatever conversation. */
const SCHEMA = `CREATE TABLE IF NOT EXISTS zone_v1 (
  messenger_id TEXT NOT NULL, user_id TEXT NOT NULL, zone TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (messenger_id, user_id)
) STRICT, WITHOUT ROWID`;

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
  let hasTable: boolean | undefined;
  const isThere = (): boolean => {
    hasTable ??=
      database.all("SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'zone_v1'").length >
      0;
    return hasTable;
  };
  return {
    get({ messengerId, userId }) {
      if (!isThere()) return undefined;
      return firstRow(
        database.all<{ zone: string }>(
          "SELECT zone FROM zone_v1 WHERE messenger_id = ? AND user_id = ?",
          messengerId,
          userId,
        ),
      )?.zone;
    },
    set({ messengerId, userId }, zone, now) {
      if (!isThere()) database.run(SCHEMA);
      hasTable = true;
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
