import type { Database } from "../../core/store/database.ts";
import { defineTable, integer, lazyTable, text } from "../../core/store/table.ts";
import type { RowOf } from "../../core/store/table.ts";

/** The time zones of people, at the root: each person is asked once, in whatever conversation. */
const ZONES = defineTable("zone_v1", {
  messengerId: text("PRIMARY KEY"),
  userId: text("PRIMARY KEY"),
  zone: text("NOT NULL"),
  at: integer("NOT NULL"),
});

/** A person, as one messenger knows them. */
export type ZonedPerson = Pick<RowOf<typeof ZONES>, "messengerId" | "userId">;

export interface PersonZoneStore {
  get(person: ZonedPerson): string | undefined;
  set(person: ZonedPerson, zone: string, now: number): void;
}

/** Creates the store. Its table is made with the first zone. */
export function createPersonZoneStore(database: Database): PersonZoneStore {
  const zones = lazyTable(database, ZONES);
  return {
    get: ({ messengerId, userId }) =>
      zones.first("WHERE messenger_id = ? AND user_id = ?", messengerId, userId)?.zone,
    set: ({ messengerId, userId }, zone, now) => zones.put({ messengerId, userId, zone, at: now }),
  };
}
