import { expect, it } from "vitest";
import { Sweep } from "../../../src/core/store/sweep-store.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

it("deletes rows once they are old, a bounded number at once, and leaves tables alone that do not exist", async () => {
  const database = createNodeDatabase();
  const clock = createVirtualClock();
  const sweep = new Sweep(database, clock, [
    { table: "few", since: "ended_at", where: "id <> 2 OR id = 7", keepMs: () => DAY_MS },
    { table: "many", key: "id", since: "ended_at", keepMs: DAY_MS },
    { table: "missing", since: "ended_at", keepMs: DAY_MS },
  ]);
  const ids = (table: string): unknown[] =>
    database.all(`SELECT id FROM ${table} ORDER BY id`).map(({ id }) => id);
  database.run("CREATE TABLE few (id INTEGER, ended_at INTEGER)");
  database.run("CREATE TABLE many (id INTEGER PRIMARY KEY, ended_at INTEGER)");
  const now = clock.now();
  for (const [id, endedAt] of [
    [1, now],
    [2, now],
    [3, null],
    [4, now + 1],
  ])
    database.run("INSERT INTO few VALUES (?, ?)", id ?? 0, endedAt ?? null);
  for (let id = 0; id < 600; id += 1) database.run("INSERT INTO many VALUES (?, ?)", id, now);

  expect(sweep.run()).toBe(true);
  expect(ids("few")).toEqual([1, 2, 3, 4]);
  await clock.advance(DAY_MS - 1);
  expect(sweep.run()).toBe(false);
  await clock.advance(2);
  expect(sweep.run()).toBe(true);
  expect(ids("few")).toEqual([2, 3, 4]);
  expect(ids("many")).toHaveLength(100);
  await clock.advance(DAY_MS);
  sweep.run();
  expect(ids("few")).toEqual([2, 3]);
  expect(ids("many")).toEqual([]);
});
