import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createBudget } from "../../../delivery/index.ts";
import { ThreadBudget } from "../../../delivery/thread-budget.ts";
import type { Budget, CallPurpose, Grant } from "../../../src/core/budget.ts";
import type { Address, Pacing } from "../../../src/core/surface.ts";
import { createFakeSurface } from "../../support/fake-surface.ts";
import { createNodeDatabase } from "../../support/node-database.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { ADDRESS, depsOn } from "./engine-harness.ts";

const PACING: Pacing = {
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 5, everyMs: 3_000 },
  global: { burst: 8, everyMs: 300 },
};

function threadsOfOneRoot(probing = false, pacing = PACING) {
  const clock = createVirtualClock();
  const deps = depsOn(clock);
  const root = createBudget({ database: createNodeDatabase(), deps });
  const surface = createFakeSurface({ clock, pacing, probing });
  const questions: CallPurpose[] = [];
  const link: Budget = {
    acquire: (address, purpose, ...rest) => {
      questions.push(purpose);
      return root.acquire(address, purpose, ...rest);
    },
    penalize: (...what) => root.penalize(...what),
    boxes: root.boxes,
  };
  const threads = new Map<string, ThreadBudget>();
  const ask = (purpose: CallPurpose, address: Address = ADDRESS, isPost = false): Promise<Grant> => {
    const thread = threads.get(address.threadId) ?? new ThreadBudget(link, deps);
    threads.set(address.threadId, thread);
    return thread.acquire(address, purpose, surface, isPost);
  };
  const penalize = (address: Address, retryAfterMs: number) =>
    threads.get(address.threadId)?.penalize(address, retryAfterMs);
  return { clock, root, ask, penalize, questions };
}

const inTopic = (topicId: number): Address => ({
  ...ADDRESS,
  threadId: `telegram:7:${topicId}`,
  topicId: String(topicId),
});

it("asks the root once for a first text and the call that follows it", async () => {
  const { clock, ask, questions } = threadsOfOneRoot();
  await clock.advance(60_000);
  expect(await ask("post")).toMatchObject({ kind: "granted" });
  await clock.advance(700);
  expect(await ask("edit")).toEqual({ kind: "granted" });
  expect(questions).toEqual(["post"]);
  expect(await ask("final")).toMatchObject({ kind: "granted" });
  expect(questions).toEqual(["post", "final"]);
});

it("lets a lease lapse after a second", async () => {
  const { clock, ask, questions } = threadsOfOneRoot();
  await clock.advance(60_000);
  await ask("post");
  await clock.advance(1_000);
  await ask("edit");
  expect(questions).toEqual(["post", "edit"]);
});

it("always asks for a post where lost ones are looked for", async () => {
  const { clock, ask, questions } = threadsOfOneRoot(true);
  await clock.advance(60_000);
  await ask("post", ADDRESS, true);
  await ask("post", ADDRESS, true);
  expect(questions).toEqual(["post", "post"]);
});

it("gives no lease to a thread that shares its chat, nor while calls are spaced wider", async () => {
  const { clock, root } = threadsOfOneRoot();
  await clock.advance(60_000);
  const lease = async (address: Address) => {
    const grant = await root.acquire(address, "post", PACING, { takesLease: true });
    return grant.kind === "granted" ? grant.lease : "wait";
  };
  expect(await lease(inTopic(1))).toEqual({ slots: 1, until: clock.now() + 1_000 });
  expect(await lease(inTopic(2))).toBeUndefined();
  await clock.advance(30_000);
  expect(await lease(inTopic(1))).toBeUndefined();
  await clock.advance(61_000);
  expect(await lease(inTopic(1))).toBeDefined();
  await root.penalize(ADDRESS, 1_000);
  await clock.advance(61_000);
  expect(await lease(inTopic(1))).toBeUndefined();
});

it("voids a lease with the penalty that its thread met", async () => {
  const { clock, ask, penalize } = threadsOfOneRoot();
  await clock.advance(60_000);
  await ask("post");
  await penalize(ADDRESS, 500);
  expect(await ask("edit")).toMatchObject({ kind: "wait", reason: "penalty" });
  await clock.advance(500);
  expect(await ask("final")).toMatchObject({ kind: "granted" });
  expect(await ask("final")).toMatchObject({ kind: "wait" });
});

const asks = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constantFrom(0, 990, 4_000, 70_000)),
    purpose: fc.constantFrom<CallPurpose>("final", "post", "edit", "typing"),
    chat: fc.constantFrom(0, 0, 0, 1),
    thread: fc.constantFrom(0, 0, 0, 0, 0, 1),
    isGroup: fc.boolean(),
  }),
  { maxLength: 80, size: "max" },
);

/** Fast enough for a bucket to fill while a lease is out. */
const FAST: Pacing = {
  direct: { burst: 3, everyMs: 250 },
  group: { burst: 4, everyMs: 400 },
  global: { burst: 8, everyMs: 150 },
};

/** Never more calls in any window than a burst and what the window earns. */
function expectPaced(times: readonly number[], burst: number, everyMs: number): void {
  let most = 0;
  for (const [index, from] of times.entries()) {
    for (let later = index; later < times.length; later += 1) {
      const earned = ((times[later] ?? from) - from) / everyMs;
      most = Math.max(most, later - index + 1 - earned);
    }
  }
  expect(most, "calls of a window over what it has earned").toBeLessThanOrEqual(burst + 1e-9);
}

it("makes no longer burst when a lease is spent late", async () => {
  const { clock, ask, questions } = threadsOfOneRoot(false, FAST);
  await clock.advance(60_000);
  await ask("post");
  await clock.advance(999);
  const grants = [];
  for (let call = 0; call < 4; call += 1) grants.push((await ask("final")).kind);
  expect(grants).toEqual(["granted", "granted", "granted", "wait"]);
  expect(questions).toHaveLength(4);
});

it("never makes more calls than the rates allow over any window, with leases spent whenever", async () => {
  let leased = 0;
  await fc.assert(
    fc.asyncProperty(asks, async (plan) => {
      const { clock, ask, questions } = threadsOfOneRoot(false, FAST);
      await clock.advance(60_000);
      const calls: { readonly at: number; readonly chatId: string; readonly isGroup: boolean }[] = [];
      let grants = 0;
      for (const { waitMs, purpose, chat, thread, isGroup } of plan) {
        await clock.advance(waitMs);
        const chatId = `${isGroup ? "-" : ""}${chat}`;
        const before = questions.length;
        const address = { ...ADDRESS, chatId, threadId: `${chatId}:${thread}`, isDirectMessage: !isGroup };
        const grant = await ask(purpose, address);
        if (grant.kind !== "granted") continue;
        calls.push({ at: clock.now(), chatId, isGroup });
        if (questions.length === before) grants += 1;
      }
      leased += grants;
      expectPaced(
        calls.map(({ at }) => at),
        FAST.global.burst,
        FAST.global.everyMs,
      );
      for (const chatId of new Set(calls.map((call) => call.chatId))) {
        const own = calls.filter((call) => call.chatId === chatId);
        const rate = own[0]?.isGroup === true ? FAST.group : FAST.direct;
        expectPaced(
          own.map(({ at }) => at),
          rate.burst,
          rate.everyMs,
        );
      }
    }),
    { numRuns: 150 },
  );
  expect(leased, "some calls were made on a lease").toBeGreaterThan(20);
});

it("has a slot for the final text whatever cosmetic calls a thread has spent its leases on", async () => {
  const cosmetic = fc.array(
    fc.record({
      waitMs: fc.integer({ min: 0, max: 1_200 }),
      purpose: fc.constantFrom<CallPurpose>("edit", "typing"),
    }),
    { maxLength: 40 },
  );
  await fc.assert(
    fc.asyncProperty(cosmetic, async (plan) => {
      const { clock, ask } = threadsOfOneRoot();
      await clock.advance(60_000);
      await ask("post");
      for (const { waitMs, purpose } of plan) {
        await clock.advance(waitMs);
        await ask(purpose);
      }
      expect(await ask("final")).toMatchObject({ kind: "granted" });
    }),
    { numRuns: 150 },
  );
});

it("serves a thread that comes to a chat with a lease as soon as the tokens are there", async () => {
  const { clock, ask } = threadsOfOneRoot();
  await clock.advance(60_000);
  await ask("post", inTopic(1));
  expect(await ask("post", inTopic(2))).toMatchObject({ kind: "granted" });
  const wait = await ask("final", inTopic(2));
  expect(wait).toMatchObject({ kind: "wait", reason: "pacing" });
  await clock.advance(wait.kind === "wait" ? wait.retryAt - clock.now() : 0);
  expect(await ask("final", inTopic(2))).toMatchObject({ kind: "granted" });
});

it("asks about the ids after its own newest message, also when the root was started since and knows none of them", async () => {
  const clock = createVirtualClock();
  const deps = depsOn(clock);
  const surface = createFakeSurface({ clock, probing: true });
  const thread = new ThreadBudget(createBudget({ database: createNodeDatabase(), deps }), deps);
  for (const id of ["103", "104", "105", "106"]) thread.knows(ADDRESS, surface, id);
  const { probing } = surface;
  if (probing === undefined) throw new Error("The surface cannot be probed.");
  const { ids } = await thread.unseen(ADDRESS, probing, { afterId: 103, sinceAt: clock.now() });
  expect(ids).toContain(107);
});
