import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { captureLog } from "../support/log-lines.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

afterEach(() => {
  vi.useRealTimers();
});

const alarmOf = (world: World, chat: string): Promise<number | null> =>
  runInDurableObject(world.thread(chat), (_bot, { storage }) => storage.getAlarm());

it("sets no alarm for a message from which nothing follows", async () => {
  const world = createWorld();
  expect(await world.write("c1", "Anybody here?", { isGroup: true })).toBe(200);
  expect(await alarmOf(world, "c1")).toBeNull();
});

it("sets no alarm for an edit of a message that was answered long ago", async () => {
  const world = createWorld();
  expect(await world.post({ kind: "edit", id: "9", chat: "c1", user: "ada", text: "changed" })).toBe(200);
  expect(await alarmOf(world, "c1")).toBeNull();
});

it("has an alarm before it answers for a message that it cannot read without somebody else (I1)", async () => {
  const gate = createGate();
  const world = createWorld({
    messengers: (own) => {
      const platform = fakePlatform(own.chats);
      const parse: typeof platform.parse = async (...given) => {
        await gate.pass();
        return platform.parse(...given);
      };
      return { fake: { ...own.messenger(), platform: { ...platform, parse } } };
    },
  });
  expect(await world.write("c1", "Hello")).toBe(200);
  await untilReached(gate);
  expect(await alarmOf(world, "c1")).not.toBeNull();
  gate.open();
  await world.shows("c1", "You said: Hello");
});

it("takes its alarm away when all is delivered", async () => {
  const world = createWorld();
  await world.write("c1", "Hello");
  await world.shows("c1", "You said: Hello");
  await vi.waitFor(async () => expect(await alarmOf(world, "c1")).toBeNull(), 1500);
});

it("keeps an alarm as long as its storage refuses a write, and goes on when it takes one again", async () => {
  const log = captureLog();
  const world = createWorld();
  const sql = (statement: string): Promise<void> =>
    runInDurableObject(world.thread("c1"), (_bot, { storage }) => void storage.sql.exec(statement));
  await world.write("c1", "Hello");
  await world.shows("c1", "You said: Hello");
  await sql("CREATE TRIGGER full BEFORE INSERT ON turn_v1 BEGIN SELECT RAISE(ABORT, 'full'); END");
  await world.write("c1", "Are you there?");
  await expect.poll(() => log.map(({ event }) => event)).toContain("thread.failed");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10_000 });
  await runDurableObjectAlarm(world.thread("c1"));
  expect(await alarmOf(world, "c1")).not.toBeNull();
  await sql("DROP TRIGGER full");
  vi.setSystemTime(Date.now() + 10_000);
  await runDurableObjectAlarm(world.thread("c1"));
  await world.shows("c1", "You said: Hello", "You said: Are you there?");
});

it("keeps the alarm of a loop that has failed when an earlier answer is delivered meanwhile", async () => {
  const log = captureLog();
  const gate = createGate();
  const world = createWorld({
    messengers: (own) => {
      const platform = fakePlatform(own.chats);
      const surface: typeof platform.surface = (context) => {
        const open = platform.surface(context);
        const post: typeof open.post = async (...given) => {
          await gate.pass();
          return open.post(...given);
        };
        return { ...open, post };
      };
      return { fake: { ...own.messenger(), platform: { ...platform, surface } } };
    },
  });
  await world.write("c1", "Hello");
  await untilReached(gate);
  await expect.poll(() => log.map(({ event }) => event)).toContain("turn.ended");
  await runInDurableObject(
    world.thread("c1"),
    (_bot, { storage }) =>
      void storage.sql.exec(
        "CREATE TRIGGER full BEFORE INSERT ON turn_v1 BEGIN SELECT RAISE(ABORT, 'full'); END",
      ),
  );
  await world.write("c1", "Are you there?");
  await expect.poll(() => log.map(({ event }) => event)).toContain("thread.failed");
  gate.open();
  await world.shows("c1", "You said: Hello");
  await expect.poll(async () => (await world.thread("c1").deliveries.list())[0]?.state).toBe("delivered");
  expect(await alarmOf(world, "c1")).not.toBeNull();
});
