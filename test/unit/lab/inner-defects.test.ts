import { afterEach, expect, it, vi } from "vitest";
import type { RichText } from "../../../src/core/message/rich-text.ts";
import type * as CallPolicy from "../../../delivery/calls/call-policy.ts";
import type * as Lanes from "../../../delivery/lane/lane.ts";
import type * as OutboxEntry from "../../../delivery/outbox/outbox-entry.ts";
import type * as RichRefusal from "../../../delivery/outbox/rich-refusal.ts";
import type * as Split from "../../../delivery/text/split/index.ts";

/*
 * Defects inside of the engine that no part around it could have: modules of the engine are replaced for a run of the
 * simulation.
 */

/** The search begins near a seed that is known to show the defect, so that it is short. */
const SEEDS = 500;

afterEach(() => {
  vi.doUnmock("../../../delivery/text/split/index.ts");
  vi.doUnmock("../../../delivery/outbox/outbox-entry.ts");
  vi.doUnmock("../../../delivery/calls/call-policy.ts");
  vi.doUnmock("../../../delivery/outbox/rich-refusal.ts");
  vi.doUnmock("../../../delivery/lane/lane.ts");
  vi.resetModules();
});

/** The invariant that the first finding breaks, or nothing. */
async function firstFinding(from: number): Promise<string | undefined> {
  vi.resetModules();
  const { simulateSeed } = await import("../../../lab/simulation/simulate.ts");
  for (let seed = from; seed < from + SEEDS; seed += 1) {
    const { violation } = await simulateSeed(seed);
    if (violation !== undefined) return violation.invariant;
  }
  return undefined;
}

it("finds the first two parts of a reply in each other's place", async () => {
  vi.doMock("../../../delivery/text/split/index.ts", async (original) => {
    const real = await original<typeof Split>();
    return {
      ...real,
      Planner: class extends real.Planner<RichText> {
        override parts(): readonly Split.Part<RichText>[] {
          const [first, second, ...rest] = super.parts();
          if (first === undefined || second === undefined || !second.complete) return super.parts();
          return [{ ...second, index: 0 }, { ...first, index: 1 }, ...rest];
        }
      },
    };
  });
  expect(await firstFinding(1)).toBe("I5");
}, 600_000);

it("finds an edit without an answer that is forgotten, and lands on the final text", async () => {
  vi.doMock("../../../delivery/outbox/outbox-entry.ts", async (original) => ({
    ...(await original<typeof OutboxEntry>()),
    strayUntil: () => undefined,
  }));
  expect(await firstFinding(880)).toBe("I5");
}, 600_000);

it("finds a failed call that is given up instead of being made again", async () => {
  vi.doMock("../../../delivery/calls/call-policy.ts", async (original) => {
    const real = await original<typeof CallPolicy>();
    return {
      ...real,
      decide: (...asked: Parameters<typeof real.decide>) => {
        const decision = real.decide(...asked);
        return decision.kind === "retry" ? { kind: "done" } : decision;
      },
    };
  });
  expect(await firstFinding(64)).toBeDefined();
}, 600_000);

it("finds a reply that is given up because its blocks are refused", async () => {
  vi.doMock("../../../delivery/outbox/rich-refusal.ts", async (original) => ({
    ...(await original<typeof RichRefusal>()),
    isRichRefusal: () => false,
  }));
  expect(await firstFinding(10)).toBe("I5");
}, 600_000);

it("finds a wake every few seconds during a penalty of an hour", async () => {
  vi.doMock("../../../delivery/lane/lane.ts", async (original) => {
    const { Lane, ...rest } = await original<typeof Lanes>();
    return {
      ...rest,
      Lane: class extends Lane {
        override run(): void {
          this.poke();
        }
      },
    };
  });
  expect(await firstFinding(107)).toBe("I8");
}, 600_000);

it("finds a lost post that is made again more often than the policy says", async () => {
  vi.doMock("../../../delivery/calls/call-policy.ts", async (original) => ({
    ...(await original<typeof CallPolicy>()),
    mostDoubts: () => 9,
  }));
  expect(await firstFinding(630)).toBe("I6");
}, 600_000);
