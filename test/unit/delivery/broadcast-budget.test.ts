import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RootBudget } from "../../../delivery/index.ts";
import type { Rate } from "../../../src/core/chat/surface.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createVirtualClock, type VirtualClock } from "../../support/virtual-clock.ts";
import { depsOn } from "./engine-harness.ts";
import { expectPaced } from "./paced.ts";

const RATE: Rate = { burst: 30, everyMs: 33 };

interface Root {
  readonly clock: VirtualClock;
  readonly budget: RootBudget;
  /** Resolves when a live call may be made, with the time that it waited. */
  readonly answer: (chatId: string) => Promise<number>;
  /** Returns the time to ask again, or undefined if the calls are paid. */
  readonly prepay: (chatId: string, calls?: number) => number | undefined;
}

async function seasoned(rate = RATE): Promise<Root> {
  const clock = createVirtualClock();
  const budget = new RootBudget({ database: createNodeDatabase(), deps: depsOn(clock) });
  const messengerId = "telegram";
  await clock.advance(60_000);
  budget.prepay({ messengerId, chatId: "warm", calls: 1, rate });
  await clock.advance(60_000);
  return {
    clock,
    budget,
    prepay: (chatId, calls = 1) => budget.prepay({ messengerId, chatId, calls, rate }),
    answer: async (chatId) => {
      const began = clock.now();
      for (;;) {
        const loan = await budget.lend({ messengerId, chatId, speaker: "s", purpose: "post", rate });
        if (loan.kind === "lent") return clock.now() - began;
        await sleep(clock, loan.retryAt - clock.now());
      }
    },
  };
}

function sleep(clock: VirtualClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.setTimeout(resolve, ms));
}

describe("the class of broadcasts", () => {
  it("never makes a live answer wait, and uses the rest of the rate", async () => {
    const { answer, clock, prepay } = await seasoned();
    const end = clock.now() + 20_000;
    let sent = 0;
    const broadcast = async (): Promise<void> => {
      for (let chat = 0; clock.now() < end; chat += 1) {
        for (let at = prepay(`b${chat}`); at !== undefined; at = prepay(`b${chat}`))
          await sleep(clock, at - clock.now());
        void sleep(clock, 30).then(() => answer(`b${chat}`));
        sent += 1;
      }
    };
    const waits: number[] = [];
    const people = async (): Promise<void> => {
      for (let person = 0; clock.now() < end; person += 1) {
        void answer(`p${person}`).then((waited) => waits.push(waited));
        await sleep(clock, 100);
      }
    };
    void broadcast();
    void people();
    await clock.advance(21_000);
    expect(waits.length).toBe(200);
    expect(Math.max(...waits)).toBe(0);
    expect(sent, "30 calls a second, less 10 of people").toBeGreaterThan(350);
  });

  it("stops while people use the whole rate", async () => {
    const { answer, clock, prepay } = await seasoned();
    for (let person = 0; person < 100; person += 1) void answer(`p${person}`);
    await clock.settle();
    const at = prepay("b") ?? 0;
    expect(at - clock.now(), "after the 70 that wait, and half a bucket").toBeGreaterThanOrEqual(80 * 33);
  });

  it("puts a paid call back that its chat does not make", async () => {
    const { clock, prepay } = await seasoned();
    const paidNow = (): number => {
      let paid = 0;
      while (prepay(`b${clock.now()}-${paid}`) === undefined) paid += 1;
      return paid;
    };
    expect(paidNow()).toBe(15);
    await clock.advance(1_900);
    expect(paidNow(), "they still count").toBe(0);
    await clock.advance(200);
    expect(paidNow()).toBe(15);
  });

  it.each([undefined, "org-a"])("gets no calls while an account must wait: %s", async (account) => {
    const { budget, clock } = await seasoned();
    const request = { messengerId: "telegram", chatId: "b", calls: 1, rate: RATE };
    const retryAfterMs = 90_000;
    await budget.penalize({ messengerId: "telegram", account: account ?? "", retryAfterMs });
    expect(budget.prepay({ ...request, account })).toBe(clock.now() + retryAfterMs);
    expect(budget.prepay({ ...request, account: "org-b" })).toBeUndefined();
    await clock.advance(retryAfterMs);
    expect(budget.prepay({ ...request, account })).toBeUndefined();
  });

  it("keeps to the rate in any window, however late paid calls are made", async () => {
    const steps = fc.array(
      fc.record({
        waitMs: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constantFrom(1_999, 2_000, 2_001)),
        isLive: fc.boolean(),
        calls: fc.integer({ min: 1, max: 4 }),
        lateMs: fc.constantFrom(0, 20, 500, 1_990, 3_000),
      }),
      { minLength: 1, maxLength: 80 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const { budget, clock, prepay } = await seasoned();
        const times: number[] = [];
        const call = async (chatId: string): Promise<void> => {
          const request = {
            messengerId: "telegram",
            chatId,
            speaker: "s",
            purpose: "post",
            rate: RATE,
          } as const;
          const loan = await budget.lend(request);
          if (loan.kind === "lent") for (let slot = 0; slot < loan.slots; slot += 1) times.push(clock.now());
        };
        for (const [step, { calls, isLive, lateMs, waitMs }] of plan.entries()) {
          await clock.advance(waitMs);
          if (isLive) for (let each = 0; each < calls * 4; each += 1) await call(`p${step}-${each}`);
          else if (prepay(`b${step}`, calls) === undefined)
            clock.setTimeout(() => {
              for (let each = 0; each < calls; each += 1) void call(`b${step}`);
            }, lateMs);
        }
        await clock.advance(3_000);
        expectPaced(times, RATE);
      }),
      { numRuns: 100 },
    );
  });
});
