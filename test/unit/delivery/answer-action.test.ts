import { expect, it } from "vitest";
import type { CallFailure } from "../../../src/core/surface.ts";
import { createHarness } from "./engine-harness.ts";

async function pressWith(...failures: CallFailure[]): Promise<string[]> {
  const { surface, delivery, clock, start } = createHarness();
  for (const failure of failures) surface.fault("answer", { kind: "fail", failure });
  const answered = delivery.answerAction(start("r1").address, "press");
  await clock.advance(5000);
  await expect(answered).resolves.toBeUndefined();
  return surface.calls.map(({ outcome }) => outcome ?? "open");
}

it.each<CallFailure>([
  { kind: "transient", code: "server-error" },
  { kind: "unknown", code: "connection-lost" },
])("answers a press of a button again that failed on the way: $kind", async (failure) => {
  expect(await pressWith(failure, failure)).toHaveLength(3);
});

it("gives up a press of a button after three attempts", async () => {
  const failure: CallFailure = { kind: "transient", code: "server-error" };
  expect(await pressWith(failure, failure, failure, failure)).toHaveLength(3);
});

it.each<CallFailure>([
  { kind: "missing", code: "query-expired" },
  { kind: "rejected", code: "bad-request" },
  { kind: "retry-after", code: "too-many-requests", retryAfterMs: 1000 },
])("does not answer a press of a button again that the platform has refused: $kind", async (failure) => {
  expect(await pressWith(failure)).toHaveLength(1);
});
