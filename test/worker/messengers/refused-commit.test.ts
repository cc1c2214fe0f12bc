import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { captureLog } from "../support/log-lines.ts";
import { createWorld } from "../support/world.ts";

it("logs no event as queued that the storage did not take", async () => {
  let storage: DurableObjectStorage | undefined;
  const world = createWorld({
    messenger: {
      allow: () => {
        // The storage sees only at the commit that the row belongs to nothing.
        storage?.sql.exec("INSERT INTO child VALUES (1)");
        return true;
      },
    },
  });
  await world.write("c1", "Hello");
  await world.shows("c1", "You said: Hello");
  await runInDurableObject(world.thread("c1"), (_bot, state) => {
    const { sql } = state.storage;
    sql.exec("CREATE TABLE parent (id INTEGER PRIMARY KEY)");
    sql.exec("CREATE TABLE child (id INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)");
    ({ storage } = state);
  });
  const log = captureLog();
  const status = await world.post({ id: "9", chat: "c1", user: "ada", text: "Are you there?" });
  expect(status).toBe(503);
  expect(log.map(({ event }) => event)).toEqual(["webhook.failed"]);
});
