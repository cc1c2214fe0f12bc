import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ActionError } from "../../../src/actions/declare/action-errors.ts";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import type { FailedRun } from "../../../src/actions/declare/action.ts";
import { createActionRig, refund } from "./action-rig.ts";
import type { ActionRig, RefundOptions } from "./action-rig.ts";

const byOrder: RefundOptions["idempotencyKey"] = ({ input }) => `order:${input.orderId}`;

/** Waits for a call while time passes. */
async function ended(rig: ActionRig, call: Promise<unknown>): Promise<unknown> {
  const ends: { readonly output: unknown }[] = [];
  void call.then((output) => ends.push({ output }));
  for (let step = 0; step < 2_000 && ends.length === 0; step += 1) await rig.clock.advance(100);
  return ends[0]?.output;
}

/** An action that fails this many times, and counts its runs. */
function flaky(times: number, options: RefundOptions, error = (): unknown => new Error("busy")) {
  const attempts: number[] = [];
  const action = refund({
    ...options,
    execute: (_input, { attempt }) => {
      attempts.push(attempt);
      if (attempts.length <= times) throw error();
      return "refunded";
    },
  });
  return { action, attempts };
}

describe("retry", () => {
  it.each([
    [undefined, 1],
    [false, 1],
    [0, 1],
    [true, 4],
    [2, 3],
  ])("%s: makes at most so many runs, each with its own attempt", async (retry, runs) => {
    const rig = createActionRig();
    const { action, attempts } = flaky(99, retry === undefined ? {} : { retry });
    expect(await ended(rig, rig.call(action))).toMatchObject({ error: { name: "ActionFailed" } });
    expect(attempts).toEqual(Array.from({ length: runs }, (_, index) => index + 1));
    expect(rig.failures).toHaveLength(runs);
  });

  it("stores one result, after rests that double", async () => {
    const rig = createActionRig();
    const { action, attempts } = flaky(3, { retry: true, idempotencyKey: byOrder });
    const before = rig.clock.now();
    expect(await ended(rig, rig.call(action))).toBe("refunded");
    expect(rig.clock.now() - before).toBe(400 + 800 + 1_600);
    rig.restart();
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toBe("refunded");
    expect(attempts).toEqual([1, 2, 3, 4]);
  });

  it("asks a function with the error, and never makes more than 11 runs", async () => {
    const rig = createActionRig();
    const seen: FailedRun<unknown, unknown>[] = [];
    const { action, attempts } = flaky(99, {
      retry: (failed) => {
        seen.push(failed);
        return true;
      },
    });
    await ended(rig, rig.call(action));
    expect(attempts).toHaveLength(11);
    expect(seen.slice(0, 2)).toMatchObject([
      { failures: 1, input: { orderId: "7" }, error: new Error("busy"), ctx: { attempt: 1 } },
      { failures: 2 },
    ]);
  });

  it("does not repeat an ActionError, unless a function says so", async () => {
    const rig = createActionRig();
    const no = (): unknown => new ActionError("The shop is closed.");
    const { action, attempts } = flaky(1, { retry: true }, no);
    expect(await rig.call(action)).toMatchObject({ error: { message: "The shop is closed." } });
    expect(attempts).toEqual([1]);
    const other = flaky(1, { retry: () => true }, no);
    expect(await ended(rig, rig.call(other.action, undefined, { toolCallId: "b" }))).toBe("refunded");
  });

  it("ends when its function throws", async () => {
    const rig = createActionRig();
    const { action, attempts } = flaky(9, {
      retry: () => {
        throw new Error("a mistake");
      },
    });
    expect(await rig.call(action)).toMatchObject({ error: { name: "ActionFailed" } });
    expect(attempts).toEqual([1]);
  });

  it("ends when the turn is stopped, and frees the key", async () => {
    const rig = createActionRig();
    const stop = new AbortController();
    const { action, attempts } = flaky(1, { retry: true, idempotencyKey: byOrder });
    const call = rig.call(action, undefined, { signal: stop.signal });
    await rig.clock.advance(100);
    stop.abort();
    expect(await call).toMatchObject({ error: { name: "ActionFailed" } });
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toBe("refunded");
    expect(attempts).toEqual([1, 1]);
  });

  it("leaves the key free when all runs threw, even where nothing interrupted is repeated", async () => {
    const rig = createActionRig();
    rig.leaseMs = false;
    const { action } = flaky(3, { retry: 2, idempotencyKey: byOrder });
    expect(await ended(rig, rig.call(action))).toMatchObject({ error: { name: "ActionFailed" } });
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toBe("refunded");
  });
});

describe("retry after a run that took too long", () => {
  function slow(options: RefundOptions) {
    const attempts: number[] = [];
    const action = refund({
      retry: 2,
      timeoutMs: 1_000,
      ...options,
      execute: (_input, { attempt }: ActionContext) => {
        attempts.push(attempt);
        return attempts.length === 1 ? new Promise(() => {}) : "refunded";
      },
    });
    return { action, attempts };
  }

  it("never repeats it without a key", async () => {
    const rig = createActionRig();
    const { action, attempts } = slow({});
    expect(await ended(rig, rig.call(action))).toMatchObject({ error: { name: "ActionUnknownError" } });
    expect(attempts).toEqual([1]);
  });

  it("repeats it under a key, each run with a time limit of its own", async () => {
    const rig = createActionRig();
    const { action, attempts } = slow({ idempotencyKey: byOrder });
    expect(await ended(rig, rig.call(action))).toBe("refunded");
    expect(attempts).toEqual([1, 2]);
  });

  it("repeats nothing under a key where the bot forbids it", async () => {
    const rig = createActionRig();
    rig.leaseMs = false;
    const { action, attempts } = slow({ idempotencyKey: byOrder });
    expect(await ended(rig, rig.call(action))).toMatchObject({ error: { name: "ActionUnknownError" } });
    expect(attempts).toEqual([1]);
  });

  it.each([
    [{ done: false } as const, "refunded", [1, 2]],
    [{ done: true, output: "found" } as const, "found", [1]],
  ])("does as `verify` says: %j", async (verdict, output, runs) => {
    const rig = createActionRig();
    const { action, attempts } = slow({ verify: () => verdict });
    expect(await ended(rig, rig.call(action))).toBe(output);
    expect(attempts).toEqual(runs);
  });

  it("repeats nothing that `verify` does not know", async () => {
    const rig = createActionRig();
    const { action, attempts } = slow({ idempotencyKey: byOrder, verify: () => "unknown" });
    expect(await ended(rig, rig.call(action))).toMatchObject({ error: { name: "ActionUnknownError" } });
    expect(attempts).toEqual([1]);
  });
});

describe("a crash between two runs", () => {
  it("never runs an action without a key again, and counts on under a key", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 8 }), fc.boolean(), async (point, hasKey) => {
        const rig = createActionRig();
        const { action, attempts } = flaky(2, {
          retry: true,
          ...(hasKey && { idempotencyKey: byOrder }),
        });
        rig.killAtWrite(point);
        await ended(rig, rig.call(action));
        rig.restart();
        const before = attempts.length;
        const again = await ended(rig, rig.call(action));
        if (hasKey) expect(again).toBe("refunded");
        expect(attempts).toEqual(attempts.toSorted((a, b) => a - b));
        // A row that was written before the crash keeps another run away.
        if (!hasKey && before > 0) expect(attempts.length).toBe(before);
      }),
      { numRuns: 40 },
    );
  });
});

describe("onError", () => {
  it("is called once, after the last run, with what that threw", async () => {
    const rig = createActionRig();
    const told: unknown[] = [];
    const { action } = flaky(99, {
      retry: 1,
      onError: ({ error, failures, input }) => void told.push({ error, failures, input }),
    });
    await ended(rig, rig.call(action));
    expect(told).toEqual([{ error: new Error("busy"), failures: 2, input: { orderId: "7" } }]);
  });

  it("gives the model words with an ActionError, and nothing of any other", async () => {
    const rig = createActionRig();
    const speaking = flaky(1, {
      onError: () => {
        throw new ActionError("The shop is away until noon.");
      },
    });
    expect(await rig.call(speaking.action)).toMatchObject({
      error: { name: "ActionError", message: "The shop is away until noon." },
    });
    const broken = flaky(1, {
      onError: () => {
        throw new Error("secret");
      },
    });
    expect(await rig.call(broken.action, undefined, { toolCallId: "b" })).toMatchObject({
      error: { name: "ActionFailed" },
    });
  });

  it("hears of a run that took too long, and the outcome stays unknown", async () => {
    const rig = createActionRig();
    const told: unknown[] = [];
    const action = refund({
      timeoutMs: 1_000,
      execute: () => new Promise(() => {}),
      onError: ({ error }) => void told.push((error as Error).name),
    });
    expect(await ended(rig, rig.call(action))).toMatchObject({ error: { name: "ActionUnknownError" } });
    expect(told).toEqual(["TimeoutError"]);
  });
});
