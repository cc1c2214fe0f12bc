import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RootBudget, createChatGate } from "../../../delivery/index.ts";
import type { BotBudget, CallPurpose, Loan } from "../../../src/core/chat/gate.ts";
import type { Rate } from "../../../src/core/chat/surface.ts";
import { NOBODY } from "../../support/chat-gates.ts";
import { createNodeDatabase, type NodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock, type VirtualClock } from "../../support/virtual-clock.ts";
import { ADDRESS, depsOn } from "./engine-harness.ts";
import { expectPaced } from "./paced.ts";

/** A bot of Telegram: thirty calls a second. */
const RATE: Rate = { burst: 30, everyMs: 33 };
/** Slow enough for loans to be out while the bucket fills. */
const SLOW: Rate = { burst: 10, everyMs: 400 };

interface Root {
  readonly clock: VirtualClock;
  readonly lend: (purpose: CallPurpose, chat?: number | string, speaker?: string) => Promise<Loan>;
  readonly restart: () => Root;
}

function rootOf(
  rate: Rate,
  clock: VirtualClock = createVirtualClock(),
  database: NodeDatabase = createNodeDatabase(),
): Root {
  const budget = new RootBudget({ database, deps: depsOn(clock) });
  return {
    clock,
    lend: (purpose, chat = 1, speaker = "speaker") =>
      budget.lend({ messengerId: "telegram", chatId: `${chat}`, speaker, purpose, rate }),
    restart: () => rootOf(rate, clock, database),
  };
}

/** A root that has run for long enough for its bucket to be full. */
async function seasoned(rate: Rate = RATE): Promise<Root> {
  const root = rootOf(rate);
  await root.clock.advance(60_000);
  return root;
}

const slotsOf = (loan: Loan): number => (loan.kind === "lent" ? loan.slots : 0);

const PURPOSES: readonly CallPurpose[] = ["final", "post", "edit", "typing"];

const asks = fc.array(
  fc.record({
    waitMs: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 300 }) },
      { weight: 1, arbitrary: fc.constantFrom(2_999, 3_000, 3_001, 8_000) },
    ),
    purpose: fc.constantFrom(...PURPOSES),
    chat: fc.integer({ min: 0, max: 20 }),
    /** When the other calls of the loan are made: of its time, this share is over. */
    late: fc.array(fc.constantFrom(0, 0.3, 0.9, 0.999), { minLength: 3, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 80, size: "max" },
);

describe("never lets more calls leave than the rate allows, in any window (1)", () => {
  it.each<[string, Rate]>([
    ["Telegram's", RATE],
    ["a slow", SLOW],
    ["a tiny", { burst: 2, everyMs: 1_000 }],
  ])("at %s rate, however many loans are out and however late they are used", async (_name, rate) => {
    let extras = 0;
    await fc.assert(
      fc.asyncProperty(asks, fc.boolean(), async (plan, isSeasoned) => {
        const { clock, lend } = isSeasoned ? await seasoned(rate) : rootOf(rate);
        const times: number[] = [];
        for (const { waitMs, purpose, chat, late } of plan) {
          await clock.advance(waitMs);
          const now = clock.now();
          const loan = await lend(purpose, chat);
          if (loan.kind === "wait") {
            expect(loan.retryAt).toBeGreaterThan(now);
            continue;
          }
          extras += loan.slots - 1;
          // The first is the call that asked.
          times.push(now);
          for (const share of late.slice(0, loan.slots - 1))
            times.push(now + Math.floor(share * (loan.until - now)));
        }
        expectPaced(times, rate);
      }),
      { numRuns: 150 },
    );
    if (rate.burst > 2) expect(extras, "some loans are of more than one call").toBeGreaterThan(20);
  });

  it("also if a granted call is not made at once, because its chat got a penalty", async () => {
    const rate: Rate = { burst: 2, everyMs: 1_000 };
    const clock = createVirtualClock();
    const deps = depsOn(clock);
    const root = new RootBudget({ database: createNodeDatabase(), deps });
    await clock.advance(60_000);
    const wide: Rate = { burst: 100, everyMs: 1 };
    const pacing = { direct: wide, group: wide, global: rate };
    const made: number[] = [];
    const chat = (chatId: string, way: BotBudget = root) => {
      const gate = createChatGate({
        database: createNodeDatabase(),
        deps,
        name: "gate",
        root: way,
        local: NOBODY,
      });
      const address = { ...ADDRESS, chatId, threadId: `telegram:${chatId}` };
      const ask = async (): Promise<void> => {
        const grant = await gate.acquire({ address, purpose: "final", pacing, speaker: "gate" });
        if (grant.kind === "granted") made.push(clock.now());
      };
      return { gate, address, ask };
    };
    const slow = chat("1", {
      lend: async (request) => {
        const loan = await root.lend(request);
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, 100));
        return loan;
      },
      tellSent: (sent) => root.tellSent(sent),
      seenIds: (question) => root.seenIds(question),
      penalize: (penalty) => root.penalize(penalty),
    });
    const asked = slow.ask();
    await clock.settle();
    await slow.gate.penalize(slow.address, 2_500);
    await clock.advance(100);
    await asked;
    expect(made, "nothing during the penalty").toEqual([]);
    await clock.advance(2_800);
    for (const other of ["2", "3", "4"]) await chat(other).ask();
    const last = slow.ask();
    await clock.advance(100);
    await last;
    expectPaced(made, rate);
  });

  it("lends out a call again only after its loan has expired", async () => {
    const { clock, lend } = await seasoned();
    let lent = 0;
    for (let chat = 0; chat < 100; chat += 1) lent += slotsOf(await lend("post", chat));
    expect(lent).toBe(30);
    await clock.advance(60_000);
    let again = 0;
    for (let chat = 0; chat < 100; chat += 1) again += slotsOf(await lend("post", chat));
    expect(again).toBe(30);
  });

  it("lends several calls only while most of the rate is free", async () => {
    const { lend } = await seasoned();
    const first = slotsOf(await lend("post", 0));
    expect(first).toBeGreaterThan(1);
    let lent = first;
    for (let chat = 1; chat < 100; chat += 1) {
      const slots = slotsOf(await lend("post", chat));
      if (slots > 1) expect(lent + slots).toBeLessThanOrEqual(15 + 1);
      lent += slots;
    }
    expect(lent).toBe(30);
  });
});

/** How many calls the root lends right now, one loan for each of many chats. The last of them is told to wait. */
async function callsOf(lend: Root["lend"], from: number): Promise<number> {
  let calls = 0;
  for (let chat = from; ; chat += 1) {
    const slots = slotsOf(await lend("final", chat));
    if (slots === 0) return calls;
    calls += slots;
  }
}

/** Lends all that there is. */
async function drain(lend: Root["lend"], burst: number): Promise<void> {
  for (let lent = 0, chat = 10_000; lent < burst; chat += 1) lent += slotsOf(await lend("final", chat));
}

describe("leaves a share of the rate to what must become visible (2)", () => {
  it.each<[CallPurpose, number]>([
    ["edit", 6],
    ["typing", 18],
  ])("however many chats ask for %s", async (purpose, share) => {
    const { lend } = await seasoned();
    let cosmetic = 0;
    for (let chat = 0; chat < 100; chat += 1) cosmetic += slotsOf(await lend(purpose, chat));
    expect(cosmetic).toBeGreaterThan(0);
    const left = await callsOf(lend, 200);
    expect(left).toBeGreaterThanOrEqual(share);
    expect(cosmetic + left).toBe(30);
  });

  it("at any moment, whatever was asked before", async () => {
    await fc.assert(
      fc.asyncProperty(asks, async (plan) => {
        const { clock, lend } = await seasoned();
        for (const { waitMs, purpose, chat } of plan) {
          await clock.advance(waitMs);
          const loan = await lend(purpose, chat);
          if (loan.kind === "wait" || (purpose !== "edit" && purpose !== "typing")) continue;
          const reserve = purpose === "edit" ? 6 : 18;
          expect(await callsOf(lend, 1_000)).toBeGreaterThanOrEqual(reserve - (loan.slots - 1));
          return;
        }
      }),
      { numRuns: 100 },
    );
  });

  it("lets a final text overtake waiting interim edits", async () => {
    const { clock, lend } = await seasoned();
    await drain(lend, RATE.burst);
    for (let chat = 100; chat < 150; chat += 1) expect((await lend("edit", chat)).kind).toBe("wait");
    expect(await lend("final", 200)).toMatchObject({ retryAt: clock.now() + RATE.everyMs });
    expect(await lend("final", 201)).toMatchObject({ retryAt: clock.now() + 2 * RATE.everyMs });
  });
});

describe("gives each waiting chat its own time (3)", () => {
  it("in the order of their requests, so that no request is useless", async () => {
    const { clock, lend } = await seasoned();
    const asked: number[] = [];
    const post = async (chat: number): Promise<number> => {
      for (;;) {
        asked.push(chat);
        const loan = await lend("post", chat);
        if (loan.kind === "lent") return clock.now();
        await new Promise<void>((resolve) => void clock.setTimeout(resolve, loan.retryAt - clock.now()));
      }
    };
    const begin = clock.now();
    const posts = Array.from({ length: 90 }, (_, chat) => post(chat));
    await clock.advance(10_000);
    const lentAt = await Promise.all(posts);
    expect(lentAt).toEqual(lentAt.toSorted((left, right) => left - right));
    expect(asked.length, "each asks once more at its time").toBeLessThanOrEqual(2 * 90);
    expect(Math.max(...lentAt) - begin).toBeLessThanOrEqual(90 * RATE.everyMs);
  });

  it("and each of two speakers of one chat", async () => {
    const { clock, lend } = await seasoned();
    await drain(lend, RATE.burst);
    const first = await lend("post", 1, "one");
    const second = await lend("post", 1, "two");
    expect([first, second]).toMatchObject([
      { retryAt: clock.now() + RATE.everyMs },
      { retryAt: clock.now() + 2 * RATE.everyMs },
    ]);
    await clock.advance(RATE.everyMs);
    expect((await lend("post", 1, "two")).kind).toBe("wait");
    expect((await lend("post", 1, "one")).kind).toBe("lent");
  });

  it("and serves every caller in the end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<CallPurpose>("final", "post", "edit"), { minLength: 1, maxLength: 30 }),
        async (purposes) => {
          const { clock, lend } = await seasoned(SLOW);
          await drain(lend, SLOW.burst);
          const waiting = new Map(purposes.map((purpose, chat) => [chat, { purpose, dueAt: clock.now() }]));
          for (let round = 0; round < 400 && waiting.size > 0; round += 1) {
            for (const [chat, { purpose, dueAt }] of waiting) {
              if (dueAt > clock.now()) continue;
              const loan = await lend(purpose, chat);
              if (loan.kind === "lent") waiting.delete(chat);
              else waiting.set(chat, { purpose, dueAt: loan.retryAt });
            }
            await clock.advance(100);
          }
          expect([...waiting.keys()]).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("and removes the place of a caller that does not come back", async () => {
    const { clock, lend } = await seasoned();
    await drain(lend, RATE.burst);
    for (let chat = 0; chat < 20; chat += 1) await lend("post", chat);
    await clock.advance(20 * RATE.everyMs + 2_000);
    expect((await lend("edit", 50)).kind).toBe("lent");
  });

  it("but no place to typing", async () => {
    const { clock, lend } = await seasoned();
    await drain(lend, RATE.burst);
    for (let chat = 0; chat < 20; chat += 1) await lend("typing", chat);
    expect(await lend("edit", 50)).toMatchObject({ retryAt: clock.now() + 7 * RATE.everyMs });
  });
});

describe("holds two tokens after a start (4)", () => {
  it("whatever it held before, and however small the rate is", async () => {
    for (const rate of [RATE, SLOW, { burst: 1, everyMs: 1_000 }]) {
      const { restart } = await seasoned(rate);
      const { lend } = restart();
      expect(await callsOf(lend, 0)).toBe(Math.min(2, rate.burst));
    }
  });

  it("and fills from there", async () => {
    const { clock, restart } = await seasoned();
    const { lend } = restart();
    await clock.advance(5 * RATE.everyMs);
    expect(await callsOf(lend, 0)).toBe(7);
  });
});

it("meters each messenger apart", async () => {
  const clock = createVirtualClock();
  const budget = new RootBudget({ database: createNodeDatabase(), deps: depsOn(clock) });
  await clock.advance(60_000);
  const lend = (messengerId: string) =>
    budget.lend({
      messengerId,
      chatId: "1",
      speaker: "s",
      purpose: "final",
      rate: { burst: 1, everyMs: 9_000 },
    });
  expect((await lend("telegram")).kind).toBe("lent");
  expect((await lend("telegram")).kind).toBe("wait");
  expect((await lend("slack")).kind).toBe("lent");
});

it.each([
  ["their calls in order, at the rate of the bot", 0],
  ["the same if each comes back two seconds late, as on a busy machine", 2_000],
  ["the same if each comes back ten seconds late", 10_000],
])("lends a thousand chats that ask within five seconds %s", async (_what, lateMs) => {
  const root = await seasoned();
  const startAt = root.clock.now();
  const waiting = Array.from({ length: 1_000 }, (_, chat) => ({ chat, at: startAt + chat * 5 }));
  const served: number[] = [];
  const endAt = startAt + 35_000 + 2 * lateMs;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (next.at > endAt) break;
    await root.clock.advance(Math.max(0, next.at - root.clock.now()));
    const loan = await root.lend("post", next.chat);
    if (loan.kind === "lent") {
      served.push(next.chat);
      continue;
    }
    const retryAt = loan.retryAt + lateMs;
    const place = waiting.findIndex(({ at }) => at > retryAt);
    waiting.splice(place === -1 ? waiting.length : place, 0, { chat: next.chat, at: retryAt });
  }
  expect(served).toHaveLength(1_000);
  expect(served.slice(60), "after those that were served at once").toEqual(
    served.slice(60).toSorted((a, b) => a - b),
  );
});
