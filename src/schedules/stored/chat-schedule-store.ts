import type { Database } from "../../core/database.ts";
import { firstRow } from "../../core/database.ts";
import { LazyTables } from "../../core/lazy-tables.ts";
import { chatScheduleSchema } from "../rules/chat-schedule.ts";
import type { ChatSchedule } from "../rules/chat-schedule.ts";

/** Schedules that people have made in the chats of one conversation, and the time zones of these people. */
const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS chat_schedule_v1 (id TEXT PRIMARY KEY, definition TEXT NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS person_zone_v1 (
    person TEXT PRIMARY KEY, zone TEXT NOT NULL, at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS chat_schedule_number_v1 (id INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT`,
];

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
  const tables = new LazyTables(database, { table: "chat_schedule_v1", schema: SCHEMA });
  const read = (where: string, ...bindings: string[]): ChatSchedule[] =>
    tables
      .all<{ definition: string }>(`SELECT definition FROM chat_schedule_v1 ${where}`, ...bindings)
      .map(({ definition }) => chatScheduleSchema.parse(JSON.parse(definition)));
  return {
    all: () => read("").toSorted((a, b) => a.createdAt - b.createdAt),
    get: (id) => firstRow(read("WHERE id = ?", id)),
    save(schedule) {
      tables.make();
      database.run(
        "INSERT OR REPLACE INTO chat_schedule_v1 (id, definition) VALUES (?, ?)",
        schedule.id,
        JSON.stringify(schedule),
      );
    },
    remove(id) {
      if (read("WHERE id = ?", id).length === 0) return false;
      database.run("DELETE FROM chat_schedule_v1 WHERE id = ?", id);
      return true;
    },
    nextId() {
      tables.make();
      const [row] = database.all<{ last: number }>(
        `INSERT INTO chat_schedule_number_v1 (id, last) VALUES (1, 1)
         ON CONFLICT (id) DO UPDATE SET last = last + 1 RETURNING last`,
      );
      return `#${row?.last ?? 1}`;
    },
    zoneOf(person) {
      return firstRow(
        tables.all<{ zone: string }>("SELECT zone FROM person_zone_v1 WHERE person = ?", person),
      )?.zone;
    },
    setZone(person, zone, now) {
      tables.make();
      database.run(
        "INSERT OR REPLACE INTO person_zone_v1 (person, zone, at) VALUES (?, ?, ?)",
        person,
        zone,
        now,
      );
    },
  };
}
