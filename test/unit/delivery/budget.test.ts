import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createBudget } from "../../../delivery/index.ts";
import type { Budget, CallPurpose, Grant } from "../../../src/core/budget.ts";
import type { Address, Pacing } from "../../../src/core/surface.ts";
import { createNodeDatabase } from "../../support/node-database.ts";
import type { NodeDatabase } from "../../support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { ADDRESS, depsOn } from "./engine-harness.ts";

const PACING: Pacing = {
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 4, everyMs: 3_000 },
  global: { burst: 30, everyMs: 33 },
};

const TOPIC: Address = { ...ADDRESS, threadId: "telegram:7:2", topicId: "2" };

interface Root {
  readonly clock: VirtualClock;
  readonly database: NodeDatabase;
  readonly budget: Budget;
  readonly ask: (purpose: CallPurpose, address?: Address) => Promise<Grant>;
  readonly restart: () => Root;
}

function root(clock = createVirtualClock(), database = createNodeDatabase()): Root {
  const budget = createBudget({ database, deps: depsOn(clock) });
  return {
    clock,
    database,
    budget,
    ask: (purpose, address = ADDRESS) => budget.acquire(address, purpose, PACING),
    restart: () => root(clock, database),
  };
}

/** A root that has run long enough for its buckets to be full. */
async function seasoned(): Promise<Root> {
  const made = root();
  await made.clock.advance(60_000);
  return made;
}

const granted = { kind: "granted" };

it("grants the burst, and keeps the last slot from cosmetic calls", async () => {
  const { ask, clock } = await seasoned();
  expect(await ask("typing")).toEqual(granted);
  expect(await ask("edit")).toEqual(granted);
  expect(await ask("edit")).toEqual({ kind: "wait", retryAt: clock.now() + 1_000, reason: "pacing" });
  expect(await ask("typing")).toMatchObject({ kind: "wait" });
  expect(await ask("final")).toEqual(granted);
  expect(await ask("post")).toMatchObject({ kind: "wait" });
});

it("spares the first text and the final one before it shows typing", async () => {
  const { ask, restart, clock } = await seasoned();
  expect(await ask("edit")).toEqual(granted);
  expect(await ask("typing")).toMatchObject({ kind: "wait", retryAt: clock.now() + 1_000 });
  const group = { ...TOPIC, isDirectMessage: false };
  const fresh = restart();
  expect(await fresh.ask("typing", group)).toMatchObject({ kind: "wait" });
  expect(await fresh.ask("post", group)).toEqual(granted);
  expect(await fresh.ask("post", { ...group, threadId: "telegram:7:3" })).toEqual(granted);
});

it("grants at the time that it named", async () => {
  const { ask, clock } = await seasoned();
  for (let call = 0; call < 3; call += 1) await ask("post");
  const grant = await ask("post");
  expect(grant).toMatchObject({ kind: "wait", retryAt: clock.now() + 1_000 });
  await clock.advance(999);
  expect(await ask("post")).toMatchObject({ kind: "wait" });
  await clock.advance(1);
  expect(await ask("post")).toEqual(granted);
});

it("never delays the answer of a button press, also during a penalty", async () => {
  const { ask, budget } = await seasoned();
  for (let call = 0; call < 9; call += 1) await ask("post");
  await budget.penalize(ADDRESS, 60_000);
  expect(await ask("answer")).toEqual(granted);
});

it("meters all topics of a chat together, and other chats apart", async () => {
  const { ask } = await seasoned();
  for (let call = 0; call < 3; call += 1) await ask("post");
  expect(await ask("post", TOPIC)).toMatchObject({ kind: "wait" });
  expect(await ask("post", { ...ADDRESS, chatId: "8", threadId: "telegram:8" })).toEqual(granted);
});

it("uses the group's rate in a group", async () => {
  const { ask, clock } = await seasoned();
  const group = { ...ADDRESS, isDirectMessage: false };
  for (let call = 0; call < 4; call += 1) expect(await ask("post", group)).toEqual(granted);
  expect(await ask("post", group)).toMatchObject({ retryAt: clock.now() + 3_000 });
});

it("meters all chats of a messenger together, and keeps a share for what must be visible", async () => {
  const { ask, clock } = await seasoned();
  const chat = (index: number): Address => ({
    ...ADDRESS,
    chatId: `${index}`,
    threadId: `telegram:${index}`,
  });
  let edits = 0;
  for (let index = 0; index < 40; index += 1) {
    if ((await ask("edit", chat(index))).kind === "granted") edits += 1;
  }
  expect(edits).toBe(24);
  for (let index = 0; index < 6; index += 1) expect(await ask("final", chat(index))).toEqual(granted);
  expect(await ask("final", chat(50))).toMatchObject({ kind: "wait", retryAt: clock.now() + 33 });
});

it("lets nobody send during a penalty, also after a restart of the root", async () => {
  const { ask, budget, clock, restart } = await seasoned();
  await budget.penalize(ADDRESS, 30_000);
  const until = clock.now() + 30_000;
  expect(await ask("final", TOPIC)).toEqual({ kind: "wait", retryAt: until, reason: "penalty" });
  const again = restart();
  expect(await again.ask("final")).toEqual({ kind: "wait", retryAt: until, reason: "penalty" });
  await clock.advance(29_999);
  expect(await again.ask("final")).toMatchObject({ reason: "penalty" });
  await clock.advance(1);
  expect(await again.ask("final")).toEqual(granted);
});

it("never shortens a penalty", async () => {
  const { ask, budget, clock } = await seasoned();
  await budget.penalize(ADDRESS, 30_000);
  await budget.penalize(ADDRESS, 5_000);
  expect(await ask("final")).toMatchObject({ retryAt: clock.now() + 30_000 });
});

it("spaces calls wider after each penalty, and forgives one after the other", async () => {
  const { ask, budget, clock } = await seasoned();
  const spacing = async (): Promise<number> => {
    for (;;) {
      const grant = await ask("post");
      if (grant.kind === "wait") return grant.retryAt - clock.now();
    }
  };
  await budget.penalize(ADDRESS, 1_000);
  await clock.advance(1_000);
  expect(await spacing()).toBe(1_500);
  await budget.penalize(ADDRESS, 1_000);
  await clock.advance(1_000);
  expect(await spacing()).toBe(2_250);
  await clock.advance(2 * 60_000 + 1);
  expect(await spacing()).toBe(1_500);
  await clock.advance(2 * 60_000);
  expect(await spacing()).toBe(1_000);
});

it("spaces no wider than about eight times, however many penalties there are", async () => {
  const { ask, budget, clock } = await seasoned();
  for (let count = 0; count < 20; count++) {
    await budget.penalize(ADDRESS, 1_000);
    await clock.advance(1_000);
  }
  await ask("post");
  expect(await ask("post")).toMatchObject({ retryAt: clock.now() + Math.ceil(1_000 * 1.5 ** 5) });
});

it("keeps a wider spacing over a restart that comes after the penalty", async () => {
  const { budget, clock, restart } = await seasoned();
  await budget.penalize(ADDRESS, 1_000);
  await clock.advance(1_000);
  const again = restart();
  expect(await again.ask("post")).toEqual(granted);
  expect(await again.ask("post")).toMatchObject({ kind: "wait", retryAt: clock.now() + 1_500 });
});

it("begins with two tokens after a restart, for a first text and a final one", async () => {
  const { ask, clock, restart } = await seasoned();
  await ask("post");
  const again = restart();
  expect(await again.ask("post")).toEqual(granted);
  expect(await again.ask("edit")).toMatchObject({ kind: "wait" });
  expect(await again.ask("final")).toEqual(granted);
  expect(await again.ask("final")).toMatchObject({ kind: "wait", retryAt: clock.now() + 1_000 });
  await clock.advance(60_000);
  const third = restart();
  for (let call = 0; call < 2; call += 1) await third.ask("post");
  expect(await third.ask("post")).toMatchObject({ kind: "wait" });
});

it("serves those who wait in the order in which they asked", async () => {
  const { ask, clock } = await seasoned();
  for (let call = 0; call < 3; call += 1) await ask("post");
  const first = await ask("post");
  const second = await ask("post", TOPIC);
  expect([first, second]).toMatchObject([{ retryAt: clock.now() + 1_000 }, { retryAt: clock.now() + 2_000 }]);
  await clock.advance(1_000);
  expect(await ask("post", TOPIC)).toMatchObject({ kind: "wait" });
  expect(await ask("post")).toEqual(granted);
  await clock.advance(1_000);
  expect(await ask("post", TOPIC)).toEqual(granted);
});

it("lets a final text pass a waiting edit, and gives up the place of one who does not come back", async () => {
  const { ask, clock } = await seasoned();
  for (let call = 0; call < 2; call += 1) await ask("edit");
  await ask("edit");
  expect(await ask("final", TOPIC)).toEqual(granted);
  expect(await ask("post", TOPIC)).toMatchObject({ kind: "wait" });
  await clock.advance(10_000);
  expect(await ask("edit")).toEqual(granted);
});

it("never grants more than the rate allows, whoever asks for whatever", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          waitMs: fc.integer({ min: 0, max: 1_500 }),
          purpose: fc.constantFrom<CallPurpose>("final", "post", "edit", "typing"),
          thread: fc.integer({ min: 0, max: 3 }),
        }),
        { maxLength: 60 },
      ),
      async (asks) => {
        const { ask, clock } = root();
        const startedAt = clock.now();
        const grants: number[] = [];
        for (const { waitMs, purpose, thread } of asks) {
          await clock.advance(waitMs);
          const grant = await ask(purpose, { ...ADDRESS, threadId: `telegram:7:${thread}` });
          if (grant.kind === "granted") grants.push(clock.now());
          else expect(grant.retryAt).toBeGreaterThan(clock.now());
        }
        for (const [index, from] of [startedAt, ...grants].entries()) {
          for (const [later, to] of grants.entries()) {
            if (later < index) continue;
            expect(later - index + 1).toBeLessThanOrEqual(3 + (to - from) / 1_000 + 1e-9);
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

it("serves every waiting caller in the end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<CallPurpose>("final", "post", "edit"), { minLength: 1, maxLength: 6 }),
      async (purposes) => {
        const { ask, clock } = await seasoned();
        const waiting = new Map(purposes.map((purpose, thread) => [thread, purpose]));
        const dueAt = new Map(purposes.map((_purpose, thread) => [thread, clock.now()]));
        for (let round = 0; round < 200 && waiting.size > 0; round += 1) {
          for (const [thread, purpose] of waiting) {
            if ((dueAt.get(thread) ?? 0) > clock.now()) continue;
            const grant = await ask(purpose, { ...ADDRESS, threadId: `telegram:7:${thread}` });
            if (grant.kind === "granted") waiting.delete(thread);
            else dueAt.set(thread, grant.retryAt);
          }
          await clock.advance(100);
        }
        expect([...waiting]).toEqual([]);
      },
    ),
    { numRuns: 40 },
  );
});

const chatOf = (index: number): Address => ({
  ...ADDRESS,
  chatId: `${index}`,
  threadId: `telegram:${index}`,
});

it("gives each chat of a bot at its limit a time of its own, in order, so that nobody asks in vain", async () => {
  const { ask, clock } = await seasoned();
  const asked: number[] = [];
  const post = async (index: number): Promise<number> => {
    for (;;) {
      asked.push(index);
      const grant = await ask("post", chatOf(index));
      if (grant.kind === "granted") return clock.now();
      await new Promise<void>((resolve) => {
        clock.setTimeout(resolve, grant.retryAt - clock.now());
      });
    }
  };
  const begin = clock.now();
  const posts = Array.from({ length: 90 }, (_, index) => post(index));
  await clock.advance(5_000);
  const grantedAt = await Promise.all(posts);
  expect(grantedAt).toEqual(grantedAt.toSorted((left, right) => left - right));
  expect(Math.max(...grantedAt) - begin).toBeLessThanOrEqual(60 * PACING.global.everyMs + 60);
  expect(asked).toHaveLength(30 + 2 * 60);
});

it("lets final texts pass by the interim ones that wait for the bot's rate", async () => {
  const { ask, clock } = await seasoned();
  for (let index = 0; index < 30; index += 1) await ask("post", chatOf(index));
  for (let index = 100; index < 150; index += 1) await ask("edit", chatOf(index));
  expect(await ask("final", chatOf(200))).toMatchObject({ retryAt: clock.now() + PACING.global.everyMs });
  expect(await ask("final", chatOf(201))).toMatchObject({ retryAt: clock.now() + 2 * PACING.global.everyMs });
});

it("says that the bot writes only while most of the bot's rate is free", async () => {
  const { ask } = await seasoned();
  const typed: string[] = [];
  for (let index = 0; index < 30; index += 1) typed.push((await ask("typing", chatOf(index))).kind);
  expect(typed.filter((kind) => kind === "granted")).toHaveLength(12);
  for (let index = 100; index < 118; index += 1) {
    expect(await ask("post", chatOf(index))).toMatchObject(granted);
  }
});

it("does not hold up other chats for one that waits for its own rate", async () => {
  const { ask, budget, clock } = await seasoned();
  for (let call = 0; call < 3; call += 1) await ask("post");
  for (let index = 100; index < 127; index += 1) await ask("post", chatOf(index));
  expect(await ask("post")).toMatchObject({ retryAt: clock.now() + 1_000 });
  await budget.penalize(chatOf(100), 60_000);
  await ask("post", chatOf(100));
  expect(await ask("post", chatOf(300))).toMatchObject({ retryAt: clock.now() + PACING.global.everyMs });
});
