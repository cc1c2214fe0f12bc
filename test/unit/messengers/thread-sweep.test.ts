import { expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { threadSweep } from "../../../src/messengers/thread/thread-sweep.ts";

const DAY_MS = 24 * 60 * 60_000;

it("knows the key of an event for longer than any platform delivers it again", () => {
  const database = createNodeDatabase();
  database.run("CREATE TABLE inbox_v1 (key TEXT, state TEXT, received_at INTEGER)");
  for (const [key, at] of [
    ["eight days ago", -1],
    ["seven days ago", DAY_MS],
  ] as const)
    database.run("INSERT INTO inbox_v1 VALUES (?, 'done', ?)", key, at);
  const clock = { now: () => 8 * DAY_MS, setTimeout: () => undefined, clearTimeout: () => undefined };
  threadSweep(database, clock).run();
  expect(database.all("SELECT key FROM inbox_v1")).toEqual([{ key: "seven days ago" }]);
});
