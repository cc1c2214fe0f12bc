import { expect, it } from "vitest";
import type { CallFailure } from "../../../src/core/chat/surface.ts";
import { createHarness } from "./engine-harness.ts";

async function pressWith(...failures: CallFailure[]): Promise<string[]> {
  const { surface, delivery, clock, start } = createHarness();
  for (const failure of failures) surface.fault("answer", { kind: "fail", failure });
  const answered = delivery.answerAction(start("r1").address, { id: "press" });
  await clock.advance(61_000);
  const outcomes = surface.calls.map(({ outcome }) => outcome ?? "open");
  expect(await answered).toBe(outcomes.at(-1) === "done");
  return outcomes;
}

it.each<CallFailure>([
  { kind: "transient", code: "server-error" },
  { kind: "unknown", code: "connection-lost" },
])("answers a press of a button again that failed on the way: $kind", async (failure) => {
  expect(await pressWith(failure, failure)).toHaveLength(3);
});

it("answers a press of a button again that the platform has not answered", async () => {
  const { surface, delivery, clock, start } = createHarness();
  surface.fault("answer", { kind: "hang" });
  const answered = delivery.answerAction(start("r1").address, { id: "press" });
  await clock.advance(61_000);
  await expect(answered).resolves.toBe(true);
  expect(surface.calls.map(({ outcome }) => outcome)).toEqual(["pending", "done"]);
});

it("gives up a press of a button after a minute", async () => {
  const failure: CallFailure = { kind: "transient", code: "server-error" };
  const { surface, delivery, clock, start } = createHarness();
  surface.faultAlways("answer", { kind: "fail", failure });
  const answered = delivery.answerAction(start("r1").address, { id: "press" });
  await clock.advance(120_000);
  await expect(answered).resolves.toBe(false);
  const [first, ...later] = surface.calls;
  expect(later.length).toBeGreaterThan(2);
  expect(later.length).toBeLessThan(10);
  expect((later.at(-1)?.at ?? 0) - (first?.at ?? 0)).toBeLessThan(60_000);
});

it("answers a press of a button after a penalty, unless the platform has forgotten it by then", async () => {
  const penalty = (retryAfterMs: number): CallFailure => ({
    kind: "retry-after",
    code: "too-many-requests",
    retryAfterMs,
  });
  expect(await pressWith(penalty(35_000))).toEqual(["retry-after", "done"]);
  expect(await pressWith(penalty(60_000))).toEqual(["retry-after"]);
});

it.each<CallFailure>([
  { kind: "missing", code: "query-expired" },
  { kind: "rejected", code: "bad-request" },
])("does not answer a press of a button again that the platform has refused: $kind", async (failure) => {
  expect(await pressWith(failure)).toHaveLength(1);
});

it.each([
  { penaltyMs: 20_000, isPosted: true },
  { penaltyMs: 120_000, isPosted: false },
])(
  "posts a private message after a penalty of its chat, not during it: $penaltyMs ms (I8)",
  async (story) => {
    const { surface, delivery, clock, gate, start } = createHarness({
      surface: { capabilities: { privateWords: "message" } },
    });
    const { address } = start("r1");
    const since = clock.now();
    await gate.penalize(address, story.penaltyMs);
    const answered = delivery.answerAction(address, { id: "press" }, { text: "Not you." });
    await clock.advance(130_000);
    await expect(answered).resolves.toBe(story.isPosted);
    expect(surface.penaltyBreaches).toEqual([]);
    expect(surface.calls.map(({ at, outcome }) => [at >= since + story.penaltyMs, outcome])).toEqual(
      story.isPosted ? [[true, "done"]] : [],
    );
  },
);
