import * as fc from "fast-check";
import { expect, it } from "vitest";
import { BoxStore } from "../../../delivery/budget/box-store.ts";
import { parseIds, runsOf } from "../../../delivery/budget/id-ranges.ts";
import { SeenMessages } from "../../../delivery/budget/seen-messages.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const BOX = "common";

function memory() {
  const clock = createVirtualClock();
  const store = new BoxStore(createNodeDatabase());
  const seen = new SeenMessages(clock, store);
  const idsOf = (from: SeenMessages, afterId: number, box = BOX, isShared = true): readonly number[] =>
    from.after({ messengerId: "telegram", box, chatId: "7", isShared, afterId }).ids;
  return {
    clock,
    store,
    seen,
    note: (...ids: number[]) => seen.note("telegram", BOX, true, ids),
    ids: (afterId: number) => idsOf(seen, afterId),
    /** What is known after a start. */
    restarted: (afterId: number, box = BOX, isShared = true) =>
      idsOf(new SeenMessages(clock, store), afterId, box, isShared),
  };
}

it("returns the seen ids above an id, in order, and the newest one", () => {
  const { note, ids, seen } = memory();
  expect(seen.newest("telegram", BOX)).toBeUndefined();
  expect(seen.after({ messengerId: "telegram", box: BOX, chatId: "7", isShared: true, afterId: 5 })).toEqual({
    newestId: 0,
    postedUpTo: 0,
    searches: 1,
    ids: [],
  });
  note(106, 101);
  note(103);
  expect(ids(100)).toEqual([101, 103, 106]);
  expect(ids(101)).toEqual([103, 106]);
  expect(ids(106)).toEqual([]);
  expect(seen.newest("telegram", BOX)).toBe(106);
});

it("keeps boxes of different messengers and supergroups apart", () => {
  const { note, ids, seen } = memory();
  note(100);
  seen.note("another", BOX, true, [101]);
  seen.note("telegram", "-1001", false, [102]);
  expect(ids(0)).toEqual([100]);
  expect(seen.newest("another", BOX)).toBe(101);
  expect(seen.newest("telegram", "-1001")).toBe(102);
});

it("ignores values that are not ids", () => {
  const { note, ids } = memory();
  note(Number.NaN, 1.5, Infinity, 100);
  expect(ids(0)).toEqual([100]);
});

it("remembers only the newest ids", () => {
  const { ids, note } = memory();
  for (let id = 1; id <= 5_000; id += 1) note(id);
  expect(ids(4_700)).toEqual(Array.from({ length: 300 }, (_, index) => 4_701 + index));
  expect(ids(0).length).toBeLessThanOrEqual(800);
});

it("knows the ids of a shared box after a start", async () => {
  const { clock, note, restarted } = memory();
  note(101);
  note(102, 103, 106);
  await clock.advance(249);
  expect(restarted(100)).toEqual([]);
  await clock.advance(1);
  expect(restarted(100)).toEqual([101, 102, 103, 106]);
  note(107);
  expect(restarted(100), "not yet").toEqual([101, 102, 103, 106]);
  await clock.advance(250);
  expect(restarted(100)).toEqual([101, 102, 103, 106, 107]);
});

it("continues after a start with the known ids", async () => {
  const { clock, note, store } = memory();
  note(101);
  await clock.advance(250);
  const second = new SeenMessages(clock, store);
  second.note("telegram", BOX, true, [102]);
  await clock.advance(250);
  const third = new SeenMessages(clock, store);
  expect(third.after({ messengerId: "telegram", box: BOX, chatId: "7", isShared: true, afterId: 0 })).toEqual(
    {
      newestId: 102,
      postedUpTo: 102,
      searches: 1,
      ids: [101, 102],
    },
  );
});

it("writes one row for many messages, and none for a box of a single chat", async () => {
  const database = createNodeDatabase();
  let writes = 0;
  const clock = createVirtualClock();
  const store = new BoxStore(database.withHooks({ afterWrite: () => (writes += 1) }));
  const seen = new SeenMessages(clock, store);
  writes = 0;
  for (let id = 1; id <= 20; id += 1) {
    seen.note("telegram", BOX, true, [id]);
    seen.note("telegram", "-1007", false, [id]);
  }
  await clock.advance(5_000);
  expect(writes).toBe(1);
  expect(store.read("telegram", "-1007").seen).toEqual([]);
  expect(store.read("telegram", BOX).seen).toHaveLength(20);
});

it("also knows a box whose first use is a question", async () => {
  const { clock, note, seen, store } = memory();
  note(101);
  await clock.advance(250);
  const second = new SeenMessages(clock, store);
  expect(second.newest("telegram", BOX), "not read yet").toBeUndefined();
  expect(
    second.after({ messengerId: "telegram", box: BOX, chatId: "7", isShared: true, afterId: 0 }).newestId,
  ).toBe(101);
  expect(second.newest("telegram", BOX)).toBe(101);
  expect(seen.newest("telegram", BOX)).toBe(101);
});

it("continues when nothing can be stored, and stores the ids with the next change", async () => {
  const clock = createVirtualClock();
  const store = new BoxStore(createNodeDatabase());
  let isBroken = true;
  const seen = new SeenMessages(clock, {
    read: (...box) => store.read(...box),
    write: (...row) => {
      if (isBroken) throw new Error("The storage is full.");
      store.write(...row);
    },
  });
  seen.note("telegram", BOX, true, [101]);
  await clock.advance(1_000);
  isBroken = false;
  seen.note("telegram", BOX, true, [102]);
  await clock.advance(1_000);
  expect(store.read("telegram", BOX)).toEqual({ seen: [101, 102], postedUpTo: 0 });
});

it("removes idle boxes from memory when there are very many, and reads shared ones again", async () => {
  const { clock, ids, note, seen } = memory();
  note(101);
  await clock.advance(250);
  await clock.advance(11 * 60_000);
  for (let chat = 0; chat < 1_001; chat += 1) seen.note("telegram", `-${chat}`, false, [chat]);
  expect(seen.newest("telegram", BOX), "let go").toBeUndefined();
  expect(ids(0)).toEqual([101]);
  expect(seen.newest("telegram", "-1000"), "in use").toBe(1_000);
});

it("equals a plain set of the noted ids, whatever is noted and whenever the root starts", async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 4 }) },
    { weight: 2, arbitrary: fc.constant("ask" as const) },
    { weight: 1, arbitrary: fc.constant("restart" as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { clock, store, seen: first } = memory();
      let seen = first;
      const plain = new Set<number>();
      for (const what of steps) {
        if (what === "restart") {
          await clock.advance(250);
          seen = new SeenMessages(clock, store);
        } else if (what === "ask") {
          const { ids } = seen.after({
            messengerId: "telegram",
            box: BOX,
            chatId: "7",
            isShared: true,
            afterId: 50,
          });
          const expected = [...plain].filter((id) => id > 50).toSorted((left, right) => left - right);
          expect(ids).toEqual(expected);
        } else {
          seen.note("telegram", BOX, true, what);
          for (const id of what) plain.add(id);
        }
      }
    }),
  );
});

it("writes any set of ids as runs, and reads the same set", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 300 })), (ids) => {
      const runs = runsOf(ids);
      expect(parseIds(JSON.stringify(runs))).toEqual(ids.toSorted((left, right) => left - right));
      for (const [index, [first]] of runs.entries()) {
        if (index > 0) expect(first).toBeGreaterThan((runs[index - 1]?.[1] ?? 0) + 1);
      }
    }),
  );
});
