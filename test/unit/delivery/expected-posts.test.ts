import * as fc from "fast-check";
import { expect, it } from "vitest";
import { BoxStore } from "../../../delivery/budget/box-store.ts";
import { SeenMessages } from "../../../delivery/budget/seen-messages.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const BOX = "common";
/** A search asks about this many ids above the highest one that it is told. */
const TAIL = 6;

/** A root with one shared box, which a restart replaces by one that knows only the storage. */
function root() {
  const clock = createVirtualClock();
  let writes = 0;
  const store = new BoxStore(createNodeDatabase().withHooks({ afterWrite: () => (writes += 1) }));
  writes = 0;
  let process = clock.process();
  let seen = new SeenMessages(process, store);
  return {
    clock,
    writes: () => writes,
    expect: (chat: number, messages = 1) =>
      seen.expect("telegram", BOX, { chatId: `${chat}`, messages, landsWithinMs: 8_000 }),
    tell: (chat: number, ...ids: number[]) =>
      seen.note("telegram", BOX, true, ids, { kind: "bot", chatId: `${chat}` }),
    hear: (...ids: number[]) => seen.note("telegram", BOX, true, ids),
    ask: (landsBy?: number) =>
      seen.after({
        messengerId: "telegram",
        box: BOX,
        chatId: "7",
        isShared: true,
        afterId: 0,
        ...(landsBy !== undefined && { landsBy }),
      }),
    restart: () => {
      process.kill();
      process = clock.process();
      seen = new SeenMessages(process, store);
    },
  };
}

it("covers the posts of a broadcast that a kill cut, though no id of them was stored", async () => {
  const { ask, clock, expect: post, hear, restart, tell } = root();
  hear(100);
  await clock.advance(1_000);
  for (let chat = 1; chat <= 31; chat += 1) post(chat);
  for (let chat = 1; chat <= 20; chat += 1) tell(chat, 100 + chat);
  await clock.advance(200);
  restart();
  const { ids, newestId, postedUpTo } = ask();
  expect(newestId).toBe(100);
  expect(ids).toEqual([100]);
  expect(postedUpTo).toBeGreaterThanOrEqual(131);
});

it("counts every message of an album", () => {
  const { ask, expect: post, hear, restart } = root();
  hear(100);
  for (let chat = 1; chat <= 3; chat += 1) post(chat, 10);
  restart();
  expect(ask().postedUpTo).toBeGreaterThanOrEqual(130);
});

it("writes no row for the posts of a quiet bot, and few for those of a broadcast", async () => {
  const { clock, expect: post, hear, tell, writes } = root();
  hear(100);
  await clock.advance(1_000);
  expect(writes()).toBe(1);
  for (let id = 101; id <= 103; id += 1) {
    post(id);
    tell(id, id);
    await clock.advance(1_000);
  }
  expect(writes(), "one for each message, which was stored before, too").toBe(4);
  for (let chat = 1; chat <= 100; chat += 1) post(chat);
  expect(writes()).toBeLessThanOrEqual(4 + 100 / 8 + 1);
});

it("ends the range at a message that was begun after the lost post could land", async () => {
  const { ask, clock, expect: post, hear, tell } = root();
  hear(100);
  const landsBy = clock.now() + 8_000;
  await clock.advance(7_999);
  post(1);
  tell(1, 105);
  expect(ask(landsBy).endId, "begun before").toBeUndefined();
  await clock.advance(1);
  post(2);
  expect(ask(landsBy).endId, "not known yet").toBeUndefined();
  tell(2, 109);
  post(3);
  tell(3, 110);
  expect(ask(landsBy).endId).toBe(109);
  expect(ask().endId, "a search that does not know when its post could land").toBeUndefined();
});

it("takes no id for that of a new post that is told once more", () => {
  const { ask, clock, expect: post, hear, tell } = root();
  hear(100);
  post(1);
  tell(1, 101);
  const landsBy = clock.now() + 1;
  post(1);
  tell(1, 101);
  expect(ask(landsBy).endId).toBeUndefined();
});

it("knows the highest id again when a post of a later process has one", async () => {
  const { ask, clock, expect: post, hear, restart, tell } = root();
  hear(100);
  await clock.advance(1_000);
  for (let chat = 1; chat <= 31; chat += 1) post(chat);
  restart();
  expect(ask().postedUpTo).toBeGreaterThan(130);
  await clock.advance(10_000);
  post(50);
  tell(50, 104);
  expect(ask()).toMatchObject({ newestId: 104, postedUpTo: 104 });
});

it("never falls short of the bot's own ids, whatever is told, stored or forgotten", async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant("post" as const) },
    { weight: 4, arbitrary: fc.constant("tell" as const) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 300 }) },
    { weight: 1, arbitrary: fc.constant("restart" as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const { ask, clock, expect: post, hear, restart, tell } = root();
      let [chat, highest] = [0, 100];
      hear(highest);
      await clock.advance(250);
      /** Posts whose id nobody has told yet. A restart of the root forgets none of them: their chats may tell it later. */
      const untold: { readonly chat: number; readonly id: number }[] = [];
      for (const what of steps) {
        if (what === "post") {
          post((chat += 1));
          untold.push({ chat, id: (highest += 1) });
        } else if (what === "tell") {
          const told = untold.shift();
          if (told !== undefined) tell(told.chat, told.id);
        } else if (what === "restart") {
          restart();
          expect(ask().postedUpTo + TAIL).toBeGreaterThanOrEqual(highest);
        } else {
          await clock.advance(what);
        }
      }
    }),
  );
});
