import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import type { Pacing } from "../../../src/core/chat/surface.ts";
import type { FakeMethod, FakeSurfaceOptions, Fault } from "../../support/fake-surface.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashProcess, CrashWorld } from "./crash-world.ts";
import { expectedMessages, MARK } from "./engine-harness.ts";

const LIMITS = { maxLength: 160, maxEntities: 100 };

const PACING: Pacing = {
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 3, everyMs: 3_000 },
  global: { burst: 30, everyMs: 33 },
};

const SURFACES: readonly (readonly [DeliveryMode, Partial<FakeSurfaceOptions>, readonly FakeMethod[]])[] = [
  ["draft", { draftLastsMs: 5_000 }, ["draft", "post", "edit", "typing"]],
  ["native", { streams: true }, ["begin", "append", "end", "post", "edit"]],
  ["buffered", {}, ["post", "edit", "remove", "typing"]],
  ["buffered", { capabilities: { edit: false, remove: false } }, ["post", "typing"]],
  ["final-only", {}, ["post", "edit", "remove", "typing"]],
];

interface Plan {
  readonly words: number;
  readonly paceMs: number;
  /** Streams another text first, which is then void; or the whole is there at once, beside any turn. */
  readonly kind: "turn" | "restarted" | "notice";
}

interface Schedule {
  readonly plans: readonly Plan[];
  readonly faults: readonly { readonly method: number; readonly skip: number; readonly fault: Fault }[];
  readonly crashes: readonly number[];
}

const fault = fc.constantFrom<Fault>(
  { kind: "fail", failure: { kind: "transient", code: "502" } },
  { kind: "fail", failure: { kind: "retry-after", code: "429", retryAfterMs: 3_000 } },
  { kind: "fail", failure: { kind: "retry-after", code: "429", retryAfterMs: 90_000 } },
  { kind: "fail", failure: { kind: "rejected", code: "refused" } },
  { kind: "lose", done: true },
  { kind: "lose", done: false },
  { kind: "hang" },
  { kind: "hang", answerAfterMs: 16_000 },
  { kind: "slow", latencyMs: 4_000 },
);

const schedule: fc.Arbitrary<Schedule> = fc.record({
  plans: fc.array(
    fc.record({
      words: fc.integer({ min: 1, max: 60 }),
      paceMs: fc.constantFrom(0, 20, 150, 2_000),
      kind: fc.constantFrom<Plan["kind"]>("turn", "turn", "restarted", "notice"),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  faults: fc.array(fc.record({ method: fc.nat(4), skip: fc.nat(6), fault }), { maxLength: 4 }),
  crashes: fc.uniqueArray(fc.integer({ min: 1, max: 80 }), { maxLength: 2 }),
});

function textOf({ words }: Plan, index: number): string {
  return Array.from(
    { length: words },
    (_, word) => `r${index}w${word} **bold${index}x${word}**${word % 9 === 8 ? "\n\n" : " "}`,
  ).join("");
}

async function stream(process: CrashProcess, id: string, text: string, paceMs: number): Promise<void> {
  for (let at = 0; at < text.length && !process.isDead(); at += 30) {
    process.delivery.append(id, text.slice(at, at + 30));
    await process.advance(paceMs);
  }
}

/** The turns of one thread, one after the other, taken up again where a crash left them. */
async function turns(process: CrashProcess, plans: readonly Plan[], mode: DeliveryMode): Promise<void> {
  const { delivery, isDead } = process;
  const policy = { editEveryMs: 100, mode };
  for (const [index, plan] of plans.entries()) {
    const id = `r${index}`;
    const state = delivery.receipt(id)?.state;
    if (state !== undefined && state !== "streaming") continue;
    const text = textOf(plan, index);
    if (plan.kind === "notice") {
      delivery.send(startOf(id, { policy }), text);
      continue;
    }
    delivery.open(startOf(id, { policy }));
    if (plan.kind === "restarted") {
      await stream(process, id, text.replaceAll("r", "d"), plan.paceMs);
      if (isDead()) return;
    }
    delivery.replace(id, "");
    await stream(process, id, text, plan.paceMs);
    if (isDead()) return;
    delivery.finish(id, text);
  }
}

async function live(
  { plans, faults, crashes }: Schedule,
  [mode, options, methods]: (typeof SURFACES)[number],
): Promise<CrashWorld> {
  const world = createCrashWorld({ limits: LIMITS, pacing: PACING, ...options });
  for (const { method, skip, fault: met } of faults) {
    const name = methods[method % methods.length] ?? "post";
    world.platform.fault(name, ...Array.from({ length: skip }, () => undefined), met);
  }
  for (const crashAt of [...crashes.toSorted((left, right) => left - right), 0]) {
    try {
      const process = world.boot(crashAt);
      void process.delivery.run().catch(ignoreCrash);
      await turns(process, plans, mode);
      await process.advance(600_000);
    } catch (error) {
      ignoreCrash(error);
    }
  }
  return world;
}

const stripMark = (text: string): string =>
  text.startsWith(`${MARK}\n`) ? text.slice(MARK.length + 1) : text;

it.each(SURFACES)(
  "shows every reply whole, once or marked, in order, and breaks no penalty, in the mode %s (%j)",
  async (...surface) => {
    await fc.assert(
      fc.asyncProperty(schedule, async (input) => {
        const world = await live(input, surface);
        const { platform } = world;
        expect(platform.penaltyBreaches.length).toBeLessThanOrEqual(input.crashes.length);
        const end = world.boot(0);
        const receipts = input.plans.map((_plan, index) => end.delivery.receipt(`r${index}`));
        for (const receipt of receipts) expect(["delivered", "failed"]).toContain(receipt?.state);
        for (const receipt of receipts.filter((one) => one?.state === "failed")) {
          // Twice in doubt, or refused twice.
          const isDue = receipt?.messages.some(({ state, attempts }) => state === "failed" || attempts >= 2);
          expect(isDue).toBe(true);
        }
        if (receipts.some((receipt) => receipt?.state === "failed")) return;
        const visible = platform.visible("7");
        const parts = input.plans.flatMap((plan, index) => expectedMessages(textOf(plan, index), LIMITS));
        const places = parts.map((part) => visible.findLastIndex((text) => stripMark(text) === part));
        expect(places).not.toContain(-1);
        expect(places).toEqual(places.toSorted((left, right) => left - right));
        // Whatever else is visible was posted without an answer, or is of a void attempt and cannot be taken away.
        const others = visible.filter((_text, index) => !places.includes(index));
        const lost = platform.calls.filter(
          ({ method, outcome }) => (method === "post" || method === "begin") && outcome !== "done",
        );
        const isFixed = surface[1].capabilities?.remove === false;
        // After a crash a restarted turn begins with its void text again: parts posted before the crash are void too.
        const isBegunAnew = input.crashes.length > 0 && input.plans.some(({ kind }) => kind === "restarted");
        const isVoid = (text: string): boolean => isFixed && /^d\dw|^bold/.test(stripMark(text));
        const keptOfACrash = isFixed && isBegunAnew ? parts.length : 1;
        expect(others.filter((text) => !isVoid(text)).length).toBeLessThanOrEqual(
          lost.length + input.crashes.length * keptOfACrash,
        );
        const open = platform.messages("7").filter(({ isStreaming }) => isStreaming === true);
        expect(open.length).toBeLessThanOrEqual(others.length);
      }),
      { numRuns: 60 },
    );
  },
  60_000,
);
