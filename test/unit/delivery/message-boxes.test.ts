import fc from "fast-check";
import { expect, it } from "vitest";
import { BoxStore } from "../../../delivery/box-store.ts";
import { idsOf, runsOf } from "../../../delivery/id-ranges.ts";
import { MessageBoxMemory } from "../../../delivery/message-boxes.ts";
import type { Address } from "../../../src/core/surface.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { createNodeDatabase } from "../../support/node-database.ts";
import { ADDRESS } from "./engine-harness.ts";

const BOX = "common";
const GROUP: Address = { ...ADDRESS, isDirectMessage: false };
const TOPIC: Address = { ...ADDRESS, threadId: "telegram:7:2", topicId: "2" };

const SPEAKERS = { add: () => {}, isAlone: () => false, others: () => undefined };

function memory() {
  const clock = createVirtualClock();
  const store = new BoxStore(createNodeDatabase());
  const boxes = new MessageBoxMemory({ clock, speakers: SPEAKERS, store });
  const startedAt = clock.now();
  return {
    clock,
    boxes,
    store,
    startedAt,
    ids: async (afterId: number, address = ADDRESS, sinceAt = startedAt) =>
      (await boxes.unseen(address, BOX, { afterId, sinceAt })).ids,
    unseen: (afterId: number, beforeId?: number) =>
      boxes.unseen(ADDRESS, BOX, { afterId, beforeId, sinceAt: startedAt }),
  };
}

it("leaves out what was seen, and ends a few ids after the newest", async () => {
  const { boxes, ids } = memory();
  boxes.note("telegram", BOX, [101, 103, 106]);
  expect(await ids(100)).toEqual([102, 104, 105, 107, 108]);
  expect(boxes.newest("telegram", BOX)).toBe(106);
});

it("asks about more where not every message is told", async () => {
  const { boxes, ids } = memory();
  boxes.note("telegram", BOX, [101]);
  expect(await ids(100)).toHaveLength(2);
  expect(await ids(100, { ...ADDRESS, isDirectMessage: false })).toHaveLength(10);
});

it("calls a range too long in which too many ids are unseen, however many were seen", async () => {
  const { boxes, unseen } = memory();
  boxes.note("telegram", BOX, [108]);
  expect(await unseen(100)).toMatchObject({ isTooLong: false, ids: expect.arrayContaining([101, 107]) });
  expect(await unseen(99)).toMatchObject({ isTooLong: true });
  const seen = Array.from({ length: 300 }, (_, index) => 200 + index);
  boxes.note("telegram", BOX, seen);
  expect(await unseen(199)).toMatchObject({ isTooLong: false, ids: [500, 501] });
  expect(await unseen(199, 300)).toMatchObject({ isTooLong: false, ids: [] });
  expect(await unseen(108, 122)).toMatchObject({ isTooLong: false, ids: { length: 13 } });
  expect(await unseen(108, 123)).toMatchObject({ isTooLong: true });
});

it("keeps boxes of different messengers and supergroups apart", async () => {
  const { boxes, ids } = memory();
  boxes.note("another", BOX, [101]);
  boxes.note("telegram", "-1001", [102]);
  expect(await ids(100)).toEqual([101, 102]);
});

it("remembers of a long life about the newest ids only, and never calls a forgotten one unseen and near", async () => {
  const { boxes, unseen } = memory();
  for (let id = 1; id <= 5_000; id += 1) boxes.note("telegram", BOX, [id]);
  expect(await unseen(4_700)).toMatchObject({ isTooLong: false, ids: [5_001, 5_002] });
  expect(await unseen(100)).toMatchObject({ isTooLong: true });
});

it("says when another thread of the chat may own a message, until it tells which", async () => {
  const { boxes, clock, store, startedAt } = memory();
  const unseen = (afterId: number) => boxes.unseen(GROUP, BOX, { afterId, sinceAt: startedAt });
  expect((await unseen(100)).others, "messages of an earlier start").toBe("unknown");
  boxes.beginPost(GROUP);
  boxes.note("telegram", BOX, [100], GROUP);
  expect((await unseen(100)).others).toBe("none");
  boxes.beginPost(GROUP);
  expect((await unseen(100)).others, "its own").toBe("none");
  boxes.beginPost(TOPIC);
  boxes.beginPost({ ...TOPIC, chatId: "8" });
  expect((await unseen(100)).others).toBe("unknown");
  boxes.note("telegram", BOX, [101], TOPIC);
  expect((await unseen(100)).others).toBe("none");
  await clock.advance(1_000);
  const restarted = new MessageBoxMemory({ clock, speakers: SPEAKERS, store });
  const before = { afterId: 100, sinceAt: clock.now() - 1 };
  expect((await restarted.unseen(GROUP, BOX, before)).others, "unknown after a start").toBe("unknown");
});

it("knows after a start what a box of several chats had seen a second before", async () => {
  const { boxes, clock, store, unseen } = memory();
  boxes.note("telegram", BOX, [101]);
  await unseen(100);
  boxes.note("telegram", BOX, [102, 103, 106]);
  await clock.advance(1_000);
  boxes.note("telegram", BOX, [107]);
  const restarted = new MessageBoxMemory({ clock, speakers: SPEAKERS, store });
  const range = { afterId: 100, sinceAt: clock.now() };
  expect((await restarted.unseen(ADDRESS, BOX, range)).ids).toEqual([104, 105, 107, 108]);
  expect(restarted.newest("telegram", BOX)).toBe(106);
});

it.each([
  [true, []],
  [false, [101, 102]],
])("stores a group's box only when it is not one thread's own (%s)", async (isAlone, stored) => {
  const { clock, store } = memory();
  const boxes = new MessageBoxMemory({ clock, speakers: { ...SPEAKERS, isAlone: () => isAlone }, store });
  boxes.note("telegram", "-1007", [101]);
  await boxes.unseen({ ...TOPIC, chatId: "-1007", isDirectMessage: false }, "-1007", {
    afterId: 100,
    sinceAt: 0,
  });
  boxes.note("telegram", "-1007", [102]);
  await clock.advance(5_000);
  expect(store.read("telegram", "-1007")).toEqual(stored);
});

it("writes any set of ids as runs, and reads the same", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 300 })), (ids) => {
      const runs = runsOf(ids);
      expect(idsOf(runs)).toEqual(ids.toSorted((left, right) => left - right));
      for (const [index, [first]] of runs.entries()) {
        if (index > 0) expect(first).toBeGreaterThan((runs[index - 1]?.[1] ?? 0) + 1);
      }
    }),
  );
});
