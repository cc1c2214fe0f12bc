import { jsonSchema } from "ai";
import { describe, expect, it, vi } from "vitest";
import { ActionError } from "../../../src/actions/declare/action-errors.ts";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import type { Action } from "../../../src/actions/declare/action.ts";
import { createActionRig, refund } from "./action-rig.ts";
import type { RefundOptions } from "./action-rig.ts";

const byOrder: RefundOptions["idempotencyKey"] = ({ input }) => `order:${input.orderId}`;

/** A promise that a test ends by hand. */
function gate<T>() {
  return Promise.withResolvers<T>();
}

describe("an action with a key (I9: an effect happens once)", () => {
  it("replays the result of the first call without running again", async () => {
    const rig = createActionRig();
    let runs = 0;
    const action = refund({ idempotencyKey: byOrder, execute: () => ({ refund: (runs += 1) }) });
    expect(await rig.call(action, { orderId: "7" }, { toolCallId: "a" })).toEqual({ refund: 1 });
    rig.restart();
    expect(await rig.call(action, { orderId: "7" }, { toolCallId: "b" })).toEqual({ refund: 1 });
    expect(await rig.call(action, { orderId: "8" }, { toolCallId: "c" })).toEqual({ refund: 2 });
    expect(runs).toBe(2);
  });

  it("lets calls at once share one run", async () => {
    const rig = createActionRig();
    const work = gate<string>();
    let runs = 0;
    const action = refund({
      idempotencyKey: byOrder,
      execute: () => {
        runs += 1;
        return work.promise;
      },
    });
    const { result } = await rig.begin(action, { toolCallId: "a" });
    const other = rig.call(action, undefined, { toolCallId: "b" });
    await rig.clock.advance(600);
    work.resolve("refunded once");
    expect(await result).toBe("refunded once");
    await vi.waitFor(async () => {
      await rig.clock.advance(500);
      expect(await Promise.race([other, Promise.resolve("waiting")])).toBe("refunded once");
    });
    expect(runs).toBe(1);
  });

  it("refuses the same key with another input", async () => {
    const rig = createActionRig();
    const action = refund({ idempotencyKey: "the only one" });
    await rig.call(action, { orderId: "7" });
    expect(await rig.call(action, { orderId: "8" }, { toolCallId: "b" })).toMatchObject({
      error: { name: "ActionKeyConflict" },
    });
  });

  it("runs again after a crash in the middle, and knows that it is the second time", async () => {
    const rig = createActionRig();
    const attempts: number[] = [];
    const action = refund({
      idempotencyKey: byOrder,
      execute: async (_input, { attempt }) => {
        attempts.push(attempt);
        if (attempt === 1) await gate<void>().promise;
        return "refunded";
      },
    });
    await rig.begin(action);
    rig.restart();
    expect(await rig.call(action)).toBe("refunded");
    expect(attempts).toEqual([1, 2]);
  });

  it("asks `verify` after a crash, and does not run again if it had its effect", async () => {
    const rig = createActionRig();
    let runs = 0;
    const action = refund({
      idempotencyKey: byOrder,
      execute: async () => {
        runs += 1;
        await gate<void>().promise;
      },
      verify: () => ({ done: true, output: "found the refund" }),
    });
    await rig.begin(action);
    rig.restart();
    expect(await rig.call(action)).toBe("found the refund");
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toBe("found the refund");
    expect(runs).toBe(1);
  });

  it("is never repeated after a crash where the bot forbids it", async () => {
    const rig = createActionRig();
    rig.leaseMs = false;
    let runs = 0;
    const action = refund({
      idempotencyKey: byOrder,
      execute: async () => {
        runs += 1;
        await gate<void>().promise;
      },
    });
    await rig.begin(action);
    rig.restart();
    await rig.clock.advance(3_600_000);
    expect(await rig.call(action)).toMatchObject({ error: { name: "ActionPendingError" } });
    expect(runs).toBe(1);
  });

  it("remembers that an earlier run was interrupted when the next one fails", async () => {
    const rig = createActionRig();
    const attempts: number[] = [];
    const action = refund({
      idempotencyKey: byOrder,
      execute: async (_input, { attempt }) => {
        attempts.push(attempt);
        if (attempt === 1) await gate<void>().promise;
        if (attempt === 2) throw new ActionError("The shop is closed.");
        return "refunded";
      },
    });
    await rig.begin(action);
    rig.restart();
    expect(await rig.call(action)).toMatchObject({ error: { message: "The shop is closed." } });
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toBe("refunded");
    expect(attempts).toEqual([1, 2, 3]);
  });
});

describe("an action without a key", () => {
  it("is not repeated after a crash: its outcome is not known", async () => {
    const rig = createActionRig();
    let runs = 0;
    const action = refund({
      execute: async () => {
        runs += 1;
        await gate<void>().promise;
      },
    });
    await rig.begin(action);
    rig.restart();
    expect(await rig.call(action)).toMatchObject({ error: { name: "ActionPendingError" } });
    expect(runs).toBe(1);
  });

  it("runs for each call of the model", async () => {
    const rig = createActionRig();
    let runs = 0;
    const action = refund({ execute: () => (runs += 1) });
    expect(await rig.call(action, undefined, { toolCallId: "a" })).toBe(1);
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toBe(2);
  });
});

describe("an action that fails", () => {
  it("frees its key, so that it can be called again", async () => {
    const rig = createActionRig();
    let runs = 0;
    const action = refund({
      idempotencyKey: byOrder,
      execute: () => {
        runs += 1;
        if (runs === 1) throw new ActionError("Not yet paid.");
        return "refunded";
      },
    });
    expect(await rig.call(action)).toEqual({ error: { name: "ActionError", message: "Not yet paid." } });
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toBe("refunded");
  });

  it("tells the model nothing of a foreign exception (I10)", async () => {
    const rig = createActionRig();
    const action = refund({
      execute: () => {
        throw new TypeError("token 12345 refused");
      },
    });
    const result = await rig.call(action);
    expect(result).toEqual({
      error: { name: "ActionFailed", message: "The action failed. Its log says why." },
    });
    expect(rig.failures).toHaveLength(1);
  });

  it("names the fields of an input that does not fit, and runs nothing", async () => {
    const rig = createActionRig();
    let runs = 0;
    const action = refund({ execute: () => (runs += 1) });
    expect(await rig.call(action, { orderId: 7 })).toMatchObject({
      error: { name: "ActionInputError", message: expect.stringContaining("orderId") },
    });
    expect(runs).toBe(0);
  });

  it("validates with any Standard Schema, and runs with what the schema has made of the input", async () => {
    const rig = createActionRig();
    const standard = {
      "~standard": {
        version: 1,
        vendor: "a test",
        validate: (value: unknown) => {
          const { orderId } = value as { readonly orderId?: unknown };
          return typeof orderId === "string"
            ? { value: { orderId: orderId.trim() } }
            : { issues: [{ message: "An order has a number.", path: [{ key: "orderId" }] }] };
        },
        jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
      },
    };
    const action = {
      ...refund({ execute: ({ orderId }) => `refunded ${orderId}` }),
      inputSchema: standard as unknown as Action["inputSchema"],
    };
    expect(await rig.call(action, { orderId: " 7 " })).toBe("refunded 7");
    expect(await rig.call(action, { orderId: 7 }, { toolCallId: "b" })).toEqual({
      error: {
        name: "ActionInputError",
        message: "The input is not valid: orderId: An order has a number.",
        issues: [{ path: ["orderId"], message: "An order has a number." }],
      },
    });
  });

  it("takes a JSON schema without validation as it is", async () => {
    const rig = createActionRig();
    const action = {
      ...refund({}),
      inputSchema: jsonSchema<{ n: number }>({ type: "object" }),
      execute: ({ n }: { n: number }) => n + 1,
    };
    expect(await rig.call(action, { n: 1 })).toBe(2);
  });
});

describe("an action that takes too long", () => {
  it("is stopped after its time limit and told as unknown, also to the next call", async () => {
    const rig = createActionRig();
    const signals: AbortSignal[] = [];
    const action = refund({
      idempotencyKey: byOrder,
      timeoutMs: 1_000,
      execute: async (_input, { signal }: ActionContext) => {
        signals.push(signal);
        await gate<void>().promise;
      },
    });
    const { result } = await rig.begin(action);
    await rig.clock.advance(999);
    expect(signals[0]?.aborted).toBe(false);
    await rig.clock.advance(1);
    expect(await result).toMatchObject({ error: { name: "ActionUnknownError" } });
    expect(signals[0]?.aborted).toBe(true);
    rig.restart();
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toMatchObject({
      error: { name: "ActionUnknownError" },
    });
    expect(signals).toHaveLength(1);
  });

  it("has a limit of 30 seconds unless it says otherwise", async () => {
    const rig = createActionRig();
    const { result } = await rig.begin(refund({ execute: () => gate<void>().promise }));
    let isOver = false;
    void result.then(() => (isOver = true));
    await rig.clock.advance(29_999);
    expect(isOver).toBe(false);
    await rig.clock.advance(1);
    expect(isOver).toBe(true);
  });

  it("is settled by `verify` at once, as done or as undone", async () => {
    const rig = createActionRig();
    const verdicts = [{ done: false } as const, { done: true, output: "it was made" } as const];
    const action = refund({
      idempotencyKey: byOrder,
      timeoutMs: 1_000,
      execute: () => gate<void>().promise,
      verify: () => verdicts.shift() ?? "unknown",
    });
    const { result: first } = await rig.begin(action);
    await rig.clock.advance(1_000);
    expect(await first).toMatchObject({ error: { name: "ActionFailed" } });
    const { result: second } = await rig.begin(action, { toolCallId: "b" });
    await rig.clock.advance(1_000);
    expect(await second).toBe("it was made");
  });

  it("is known after all when the work ends later", async () => {
    const rig = createActionRig();
    const work = gate<string>();
    const action = refund({ idempotencyKey: byOrder, timeoutMs: 1_000, execute: () => work.promise });
    const { result: first } = await rig.begin(action);
    await rig.clock.advance(1_000);
    expect(await first).toMatchObject({ error: { name: "ActionUnknownError" } });
    work.resolve("late, but done");
    await rig.clock.settle();
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toBe("late, but done");
  });

  it("is unknown when /stop ends the turn, not free", async () => {
    const rig = createActionRig();
    const stop = new AbortController();
    let runs = 0;
    const action = refund({
      idempotencyKey: byOrder,
      execute: async (_input, { signal }: ActionContext) => {
        runs += 1;
        const aborted = gate<never>();
        signal.addEventListener("abort", () => aborted.reject(new Error("stopped")));
        await aborted.promise;
      },
    });
    const { result } = await rig.begin(action, { signal: stop.signal });
    stop.abort();
    expect(await result).toMatchObject({ error: { name: "ActionUnknownError" } });
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toMatchObject({
      error: { name: "ActionUnknownError" },
    });
    expect(runs).toBe(1);
  });
});

describe("permissions", () => {
  it("deny a call before anything runs, and name what is missing", async () => {
    const rig = createActionRig();
    rig.decision = { allowed: false, missing: ["billing:refund"], reason: "Ask Dana." };
    let runs = 0;
    const action = refund({ permissions: ["billing:refund"], execute: () => (runs += 1) });
    expect(await rig.call(action)).toMatchObject({
      error: {
        name: "ActionAuthorizationError",
        message: expect.stringMatching(/billing:refund.*Ask Dana/s),
      },
    });
    expect(runs).toBe(0);
    rig.decision = { allowed: true };
    expect(await rig.call(action)).toBe(1);
  });
});

it.each(["", "x".repeat(513)])("refuses a key that is empty or too long", async (idempotencyKey) => {
  const rig = createActionRig();
  let runs = 0;
  const action = refund({ idempotencyKey, execute: () => (runs += 1) });
  expect(await rig.call(action)).toMatchObject({ error: { name: "ActionFailed" } });
  expect(rig.failures).toMatchObject([{ code: "action-key" }]);
  expect(runs).toBe(0);
});
