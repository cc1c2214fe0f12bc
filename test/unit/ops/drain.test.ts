import { describe, expect, it } from "vitest";
import { drain } from "../../../ops/serve/drain.ts";

const never = new AbortController().signal;

describe("draining", () => {
  it("ends with the last open work", async () => {
    const answers = [2, 1, 0, 7];
    await drain({
      openWork: () => Promise.resolve(answers.shift() ?? 0),
      timeoutMs: 10_000,
      hurried: never,
    });
    expect(answers).toEqual([7]);
  });

  it("waits no longer than it may, even for a bot that does not answer", async () => {
    const options = { timeoutMs: 0, hurried: never };
    await expect(drain({ ...options, openWork: () => Promise.resolve(1) })).resolves.toBeUndefined();
    await expect(drain({ ...options, openWork: () => new Promise(() => {}) })).resolves.toBeUndefined();
  });

  it("ends at once when it is hurried", async () => {
    const hurry = new AbortController();
    const drained = drain({
      openWork: () => new Promise(() => {}),
      timeoutMs: 10_000,
      hurried: hurry.signal,
    });
    hurry.abort();
    await expect(drained).resolves.toBeUndefined();
  });
});
