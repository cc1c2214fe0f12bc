import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import { logOfAction } from "../../../src/actions/declare/log-action-failure.ts";
import { createLog } from "../../../src/core/base/log.ts";
import { progressLine } from "../../../src/actions/declare/progress.ts";
import { createActionRig, refund } from "./action-rig.ts";

describe("progress of a run", () => {
  it("is shown while the run goes on, and taken away at its end", async () => {
    const rig = createActionRig();
    const action = refund({
      execute: (_input, { progress }) => {
        progress({ message: "Reading", fraction: 0.5 });
        progress({ message: "" });
        return "read";
      },
    });
    await rig.call(action);
    expect(rig.progress).toEqual(["⏳ Reading 50 %", undefined]);
  });

  it("says nothing after the end of its run, and outside of `execute`", async () => {
    const rig = createActionRig();
    let late: ActionContext["progress"] | undefined;
    const action = refund({
      idempotencyKey: ({ ctx, input }) => {
        ctx.progress({ message: "Naming" });
        return input.orderId;
      },
      execute: (_input, { progress }) => {
        late = progress;
        return "read";
      },
    });
    await rig.call(action);
    late?.({ message: "Late" });
    expect(rig.progress).toEqual([]);
  });

  it("is one line, whatever the message is", () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.double(), { nil: undefined }), (message, fraction) => {
        const line = progressLine({ message, ...(fraction !== undefined && { fraction }) });
        expect(line ?? "").not.toMatch(/[\n\r]/);
        expect(line?.length ?? 0).toBeLessThan(1_300);
        expect(/-\d+ %| \d{4,} %/.test((line ?? "").slice(message.length))).toBe(false);
      }),
    );
  });
});

describe("samples of a run", () => {
  it("answer while it goes on, and reject when it was stopped", async () => {
    const rig = createActionRig();
    let sample: ActionContext["sample"] | undefined;
    const stop = new AbortController();
    const action = refund({
      execute: async (_input, ctx) => {
        sample = ctx.sample;
        return ctx.sample({ prompt: "a topic" });
      },
    });
    expect(await rig.call(action, undefined, { signal: stop.signal })).toBe("sampled a topic");
    stop.abort(new Error("stopped"));
    await expect(sample?.({ prompt: "more" })).rejects.toThrow("stopped");
  });
});

it("writes a line of an action that replaces no field of the log", () => {
  const lines: string[] = [];
  const log = createLog((level, line) => lines.push(`${level} ${line}`), { now: () => 0 });
  const meta = { rows: 3, event: "other", level: "info", action: "other", deep: {} as never };
  logOfAction(log, "refund", { level: "warn", message: "slow", meta });
  expect(lines).toEqual([
    'warn {"time":"1970-01-01T00:00:00.000Z","level":"warn","event":"action.log","rows":3,"action":"refund","message":"slow"}',
  ]);
});
