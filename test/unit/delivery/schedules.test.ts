import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Pacing } from "../../../src/core/chat/surface.ts";
import type { FakeMethod, Fault } from "../../support/fake-surface.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashProcess, CrashWorld } from "./crash-world.ts";
import { expectedMessages, MARK } from "./engine-harness.ts";

const LIMITS = { maxLength: 160, maxEntities: 100 };

const PACING: Pacing = {
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 3, everyMs: 3_000 },
  global: { burst: 30, everyMs: 33 },
};

/** One reply of the schedule: each has words of its own, so that a draft tells whose it is. */
interface Plan {
  readonly words: number;
  /** Milliseconds between two chunks. */
  readonly paceMs: number;
  /**
   * - `turn`: streams
   * - `notice`: whole at once
   * - `restarted`: streams another text first, which is then void
   * - `taken-over`: another reply streams first and is withdrawn
   */
  readonly kind: "turn" | "notice" | "restarted" | "taken-over";
}

interface Schedule {
  readonly plans: readonly Plan[];
  readonly faults: readonly { readonly method: FakeMethod; readonly skip: number; readonly fault: Fault }[];
  /** Boundaries at which the process dies, counted over all its lives. */
  readonly crashes: readonly number[];
}

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom<Fault>(
    { kind: "fail", failure: { kind: "transient", code: "502" } },
    { kind: "fail", failure: { kind: "retry-after", code: "429", retryAfterMs: 3_000 } },
    { kind: "fail", failure: { kind: "retry-after", code: "429", retryAfterMs: 90_000 } },
    { kind: "fail", failure: { kind: "rejected", code: "entities" } },
    { kind: "lose", done: true },
    { kind: "lose", done: false },
    { kind: "hang" },
    { kind: "hang", answerAfterMs: 16_000 },
    { kind: "slow", latencyMs: 4_000 },
  ),
);

const schedule: fc.Arbitrary<Schedule> = fc.record({
  plans: fc.array(
    fc.record({
      words: fc.integer({ min: 1, max: 60 }),
      paceMs: fc.constantFrom(0, 20, 150),
      kind: fc.constantFrom<Plan["kind"]>("turn", "notice", "restarted", "taken-over"),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  faults: fc.array(
    fc.record({
      method: fc.constantFrom<FakeMethod>("post", "edit", "remove", "typing"),
      skip: fc.integer({ min: 0, max: 6 }),
      fault,
    }),
    { maxLength: 4 },
  ),
  crashes: fc.uniqueArray(fc.integer({ min: 1, max: 80 }), { maxLength: 3 }),
});

const idOf = (index: number): string => `r${index}`;

function textOf(plan: Plan, index: number): string {
  return Array.from(
    { length: plan.words },
    (_, word) => `r${index}w${word} **bold${index}x${word}**${word % 9 === 8 ? "\n\n" : " "}`,
  ).join("");
}

function draftOf(index: number): string {
  return Array.from({ length: 30 }, (_, word) => `d${index}w${word} `).join("");
}

async function stream(process: CrashProcess, id: string, text: string, paceMs: number): Promise<void> {
  for (let at = 0; at < text.length && !process.isDead(); at += 30) {
    process.delivery.append(id, text.slice(at, at + 30));
    await process.advance(paceMs);
  }
}

/** The turns of one thread, one after the other, taken up again where a crash left them. */
async function turns(process: CrashProcess, plans: readonly Plan[]): Promise<void> {
  const { delivery } = process;
  for (const [index, plan] of plans.entries()) {
    const id = idOf(index);
    const state = delivery.receipt(id)?.state;
    if (state !== undefined && state !== "streaming") continue;
    const text = textOf(plan, index);
    if (plan.kind === "notice") {
      delivery.send(startOf(id), text);
      continue;
    }
    const earlier = `${id}-earlier`;
    if (plan.kind === "taken-over" && state === undefined) {
      if (delivery.receipt(earlier)?.state !== "withdrawn") {
        delivery.open(startOf(earlier));
        await stream(process, earlier, draftOf(index), plan.paceMs);
        if (process.isDead()) return;
        delivery.withdraw(earlier);
      }
      delivery.open(startOf(id, { takesOver: earlier }));
    } else delivery.open(startOf(id));
    if (plan.kind === "restarted") {
      await stream(process, id, draftOf(index), plan.paceMs);
      if (process.isDead()) return;
    }
    delivery.replace(id, "");
    await stream(process, id, text, plan.paceMs);
    if (process.isDead()) return;
    delivery.finish(id, text);
  }
}

async function live({ plans, faults, crashes }: Schedule, probing = false): Promise<CrashWorld> {
  const world = createCrashWorld({ limits: LIMITS, pacing: PACING, probing });
  for (const { method, skip, fault } of faults) {
    world.platform.fault(method, ...Array.from({ length: skip }, () => undefined), fault);
  }
  for (const crashAt of [...crashes.toSorted((left, right) => left - right), 0]) {
    try {
      const process = world.boot(crashAt);
      void process.delivery.run().catch(ignoreCrash);
      await turns(process, plans);
      await process.advance(600_000);
    } catch (error) {
      ignoreCrash(error);
    }
  }
  return world;
}

function stripMark(text: string): string {
  return text.startsWith(`${MARK}\n`) ? text.slice(MARK.length + 1) : text;
}

function isMarked(text: string): boolean {
  return text.startsWith(`${MARK}\n`);
}

it("shows every reply whole, in order, once or marked, and breaks no penalty, on any schedule", async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async (input) => {
      const world = await live(input);
      const { platform } = world;
      // A process that dies before it could store the refusal knows of no penalty; nobody else ever breaks one.
      expect(platform.penaltyBreaches.length).toBeLessThanOrEqual(input.crashes.length);
      const end = world.boot(0);
      const visible = platform.visible("7");
      const parts = input.plans.flatMap((plan, index) => expectedMessages(textOf(plan, index), LIMITS));
      const states = input.plans.map((_plan, index) => end.delivery.receipt(idOf(index)));
      for (const receipt of states) expect(["delivered", "failed"]).toContain(receipt?.state);
      for (const receipt of states) {
        if (receipt?.state !== "failed") continue;
        // Only a row that was twice in doubt may end so (its answer may have come after that), or content that was
        // refused twice.
        expect(receipt.messages.some(({ state, attempts }) => state === "failed" || attempts >= 2)).toBe(
          true,
        );
      }
      if (states.some((receipt) => receipt?.state === "failed")) return;
      const settled = parts.map((part) => visible.findLastIndex((text) => stripMark(text) === part));
      // Nothing is lost, and everything stands in order.
      expect(settled).not.toContain(-1);
      expect(settled).toEqual([...settled].sort((left, right) => left - right));
      // Whatever else is visible is the draft of a post whose answer was lost.
      const drafts = visible.filter((_text, index) => !settled.includes(index));
      const doubtful = platform.calls.filter(
        ({ method, outcome }) => method === "post" && outcome !== "done",
      );
      const doubts = doubtful.length + input.crashes.length;
      expect(drafts.length).toBeLessThanOrEqual(doubts);
      expect(visible.filter(isMarked).length).toBeLessThanOrEqual(doubts);
      for (const draft of drafts) expect(stripMark(draft)).toMatch(/^[rd]\dw|^bold/);
      const rows = states.flatMap((receipt) => receipt?.messages ?? []);
      expect(rows.filter(({ state }) => state === "sent")).toHaveLength(parts.length);
    }),
    { numRuns: 150 },
  );
});

it("shows every reply whole, in order, once and unmarked, if lost posts can be found, on any schedule", async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async (input) => {
      const world = await live(input, true);
      const { platform } = world;
      expect(platform.penaltyBreaches.length).toBeLessThanOrEqual(input.crashes.length);
      const end = world.boot(0);
      const receipts = input.plans.map((_plan, index) => end.delivery.receipt(idOf(index)));
      const refused = receipts.some(
        (receipt) => receipt?.messages.some(({ state }) => state === "failed") === true,
      );
      // Content that was refused twice.
      if (refused) return;
      for (const receipt of receipts) expect(receipt?.state).toBe("delivered");
      const parts = input.plans.flatMap((plan, index) => expectedMessages(textOf(plan, index), LIMITS));
      expect(platform.visible("7")).toEqual(parts);
    }),
    { numRuns: 150 },
  );
});
