import { describe, expect, it } from "vitest";
import { z } from "zod";
import { failureKind, invalidInput, outcomeUnknown } from "../../../src/actions/declare/action-errors.ts";
import type { ActionFailure } from "../../../src/actions/declare/action-errors.ts";
import { createActionRig, refund } from "./action-rig.ts";

const returns = z.object({ id: z.string(), cents: z.coerce.number() });

describe("`returns`", () => {
  it("gives the model what the schema makes of the output", async () => {
    const rig = createActionRig();
    const action = refund({ returns, execute: () => ({ id: "r1", cents: "50", internal: "x" }) });
    expect(await rig.call(action)).toEqual({ id: "r1", cents: 50 });
  });

  it("tells a wrong output with issues, attaches nothing, and runs nothing again", async () => {
    const rig = createActionRig();
    let runs = 0;
    const action = refund({
      returns,
      retry: true,
      idempotencyKey: "one",
      execute: (_input, { attachReply }) => {
        runs += 1;
        attachReply({ type: "note" });
        return { id: 7 };
      },
    });
    const failure = (await rig.call(action)) as ActionFailure;
    expect(failure.error.name).toBe("ActionOutputError");
    expect(failure.error.issues?.map(({ path }) => path)).toEqual([["id"], ["cents"]]);
    expect(failureKind(failure)).toBe("handler");
    expect(rig.outputs).toHaveLength(1);
    expect(rig.attachments()).toEqual([]);
    rig.restart();
    expect(await rig.call(action, undefined, { toolCallId: "b" })).toEqual(failure);
    expect(runs).toBe(1);
  });

  it("only logs a wrong output with `strictOutput: false`", async () => {
    const rig = createActionRig();
    const action = refund({ returns, strictOutput: false, execute: () => ({ id: 7 }) });
    expect(await rig.call(action)).toEqual({ id: 7 });
    expect(rig.outputs).toHaveLength(1);
  });

  it("checks also what `verify` says", async () => {
    const rig = createActionRig();
    const action = refund({
      returns,
      timeoutMs: 1,
      execute: () => new Promise(() => {}),
      verify: () => ({ done: true, output: "no object" }),
    });
    const { result } = await rig.begin(action);
    await rig.clock.advance(1);
    expect(await result).toMatchObject({ error: { name: "ActionOutputError" } });
  });
});

describe("`format`", () => {
  it("shows the result as one line, and leaves the model the output", async () => {
    const rig = createActionRig();
    const action = refund({
      execute: () => ({ id: "r1" }),
      format: ({ input, output }) => `Order ${input.orderId}:\n ${(output as { id: string }).id}`,
    });
    expect(await rig.call(action)).toEqual({ id: "r1" });
    expect(rig.results).toEqual(["Order 7: r1"]);
  });

  it("is left out when it throws", async () => {
    const rig = createActionRig();
    const action = refund({
      execute: () => "done",
      format: () => {
        throw new Error("secret");
      },
    });
    expect(await rig.call(action)).toBe("done");
    expect(rig.results).toEqual([]);
  });
});

describe("`enabled`", () => {
  it("refuses a call, also one whose answer is an exception, and runs nothing", async () => {
    const rig = createActionRig();
    let runs = 0;
    const execute = (): number => (runs += 1);
    const closed = refund({ execute, enabled: ({ requestId }) => requestId !== "turn" });
    expect(await rig.call(closed)).toMatchObject({ error: { name: "ActionDisabledError" } });
    expect(await rig.call(closed, undefined, { requestId: "other" })).toBe(1);
    const broken = refund({
      execute,
      enabled: () => {
        throw new Error("away");
      },
    });
    expect(await rig.call(broken)).toMatchObject({ error: { name: "ActionDisabledError" } });
    expect(rig.failures).toEqual([new Error("away")]);
    expect(runs).toBe(1);
  });
});

it("names the cause of a failure for other doors", () => {
  expect(failureKind(invalidInput("no"))).toBe("input");
  expect(failureKind(outcomeUnknown())).toBe("unknown");
  expect(failureKind({ error: { name: "ActionAuthorizationError", message: "" } })).toBe("refused");
});
