import { mkdirSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openWorkIn } from "../../../testing/open-work-store.ts";

const MINUTE_MS = 60_000;
let directory = "";

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "switchboard-open-work-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** An object of the bot's that is at work. */
function storedObject(id: string): { readonly database: DatabaseSync; readonly age: (at?: number) => void } {
  const folder = path.join(directory, "objects", "bot-Bot");
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${id.repeat(64)}.sqlite`);
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE inbox_v1 (state TEXT, thread TEXT)");
  database.exec("CREATE TABLE occurrence_v1 (state TEXT, next_at INTEGER)");
  return {
    database,
    age: (at = Date.now() - MINUTE_MS) => {
      for (const one of [file, `${file}-wal`]) utimesSync(one, new Date(at), new Date(at));
    },
  };
}

it("reads what an object has written since the last look", () => {
  const one = storedObject("a");
  const other = storedObject("b");
  const openWork = openWorkIn(directory);
  for (const { age } of [one, other]) age();
  expect(openWork()).toEqual([]);
  one.database.exec(`INSERT INTO inbox_v1 VALUES ('new', '{"chatId":"7"}')`);
  expect(openWork()).toEqual([{ kind: "update", chatId: "7" }]);
  one.age();
  expect([openWork(), openWork()]).toEqual([openWork(), openWork()]);
  one.database.exec("UPDATE inbox_v1 SET state = 'done'");
  expect(openWork()).toEqual([]);
});

it("reads what becomes visible some time after its bytes were written", () => {
  const { age, database } = storedObject("a");
  database.exec(`INSERT INTO inbox_v1 VALUES ('new', '{"chatId":"7"}')`);
  // The next write begins at the start of the log, whose size stays.
  database.exec("PRAGMA wal_checkpoint(RESTART)");
  const aMinuteAgo = Date.now() - MINUTE_MS;
  age(aMinuteAgo);
  const openWork = openWorkIn(directory);
  expect(openWork()).toEqual([{ kind: "update", chatId: "7" }]);
  database.exec("UPDATE inbox_v1 SET state = 'done'");
  age(aMinuteAgo);
  expect(openWork()).toEqual([]);
});

it("waits for a scheduled task that becomes due while its object sleeps", () => {
  const { age, database } = storedObject("a");
  database.exec(`INSERT INTO occurrence_v1 VALUES ('due', ${Date.now() + 1200})`);
  age();
  const openWork = openWorkIn(directory);
  expect(openWork()).toEqual([]);
  const { now } = Date;
  Date.now = () => now() + 1000;
  try {
    expect(openWork()).toEqual([{ kind: "scheduled task" }]);
  } finally {
    Date.now = now;
  }
});
