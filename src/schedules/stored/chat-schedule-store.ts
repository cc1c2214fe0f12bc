import type { Database } from "../../core/store/database.ts";
import { LazyTables } from "../../core/store/lazy-tables.ts";
import { defineTable, integer, json, Table, text } from "../../core/store/table.ts";
import { chatScheduleSchema } from "../rules/chat-schedule.ts";
import type { ChatSchedule } from "../rules/chat-schedule.ts";

/** Schedules that people have made in the chats of one conversation, and the time zones of these people. */
const SCHEDULES = defineTable("chat_schedule_v1", {
  id: text("PRIMARY KEY"),
  definition: json<ChatSchedule>(chatScheduleSchema)("NOT NULL"),
});
const ZONES = defineTable("person_zone_v1", {
  person: text("PRIMARY KEY"),
  zone: text("NOT NULL"),
  at: integer("NOT NULL"),
});
const NUMBERS = defineTable(
  "chat_schedule_number_v1",
  { id: integer("PRIMARY KEY"), last: integer("NOT NULL") },
  "STRICT",
);

export interface ChatScheduleStore {
  all(): ChatSchedule[];
  get(id: string): ChatSchedule | undefined;
  save(schedule: ChatSchedule): void;
  /** Returns `false` if there is no such schedule. */
  remove(id: string): boolean;
  /** Returns an id that no schedule of this conversation ever had. */
  nextId(): string;
  zoneOf(person: string): string | undefined;
  setZone(person: string, zone: string, now: number): void;
}

/** Creates the store. Its tables are made with the first row. */
export function createChatScheduleStore(database: Database): ChatScheduleStore {
  const tables = new LazyTables(database, ZONES, NUMBERS, SCHEDULES);
  const schedules = new Table(tables, SCHEDULES);
  const zones = new Table(tables, ZONES);
  return {
    all: () =>
      schedules
        .all("")
        .map(({ definition }) => definition)
        .toSorted((a, b) => a.createdAt - b.createdAt),
    get: (id) => schedules.first("WHERE id = ?", id)?.definition,
    save: (schedule) => schedules.put({ id: schedule.id, definition: schedule }),
    remove: (id) => tables.all("DELETE FROM chat_schedule_v1 WHERE id = ? RETURNING id", id).length > 0,
    nextId() {
      tables.make();
      const [row] = database.all<{ last: number }>(
        `INSERT INTO chat_schedule_number_v1 (id, last) VALUES (1, 1)
         ON CONFLICT (id) DO UPDATE SET last = last + 1 RETURNING last`,
      );
      return `#${row?.last ?? 1}`;
    },
    zoneOf: (person) => zones.first("WHERE person = ?", person)?.zone,
    setZone: (person, zone, now) => zones.put({ person, zone, at: now }),
  };
}
