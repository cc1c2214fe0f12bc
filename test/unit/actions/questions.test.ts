import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import { createActionRig, killed, refund } from "./action-rig.ts";

const asked = { waiting: { questionId: "question" } };
const outside = { isOutside: true };

describe("a question from inside an action", () => {
  it("drops the run, and runs it again with the answer", async () => {
    const rig = createActionRig();
    const seen: string[] = [];
    const action = refund({
      execute: async (_input, ctx) => {
        seen.push(`run ${ctx.attempt}`);
        const isWanted = await ctx.confirm({ message: "Really?" });
        seen.push(`answer ${isWanted}`);
        return isWanted ? "refunded" : "kept";
      },
    });
    expect(await rig.call(action)).toMatchObject(asked);
    expect(await rig.call(action), "the turn is resumed").toMatchObject(asked);
    rig.answer({ value: true });
    expect(await rig.call(action, undefined, outside)).toBe("refunded");
    expect(seen).toEqual(["run 1", "run 1", "answer true"]);
  });

  it.each([
    ["confirm", (ctx: ActionContext) => ctx.confirm({ message: "Really?" }), false],
    [
      "choose",
      (ctx: ActionContext) => ctx.choose({ message: "Which?", options: ["S", "M"] }),
      { why: "nobody" },
    ],
    [
      "elicit",
      (ctx: ActionContext) => ctx.elicit({ message: "Why?", schema: z.string() }),
      { why: "nobody" },
    ],
  ])("answers %s at once if nobody can be asked", async (_kind, ask, answer) => {
    const rig = createActionRig();
    rig.isNobodyThere = true;
    const action = refund({ execute: async (_input, ctx) => ask(ctx) });
    expect(await rig.call(action)).toEqual(answer);
    expect(rig.asked).toEqual([]);
  });

  it("keeps the order of several questions, also of one that nobody could answer", async () => {
    const rig = createActionRig();
    const action = refund({
      execute: async (_input, ctx) => {
        rig.isNobodyThere = true;
        const first = await ctx.confirm({ message: "First?" });
        rig.isNobodyThere = false;
        const second = await ctx.choose({
          message: "Second?",
          options: ["S", { value: "M", label: "Medium" }],
        });
        const third = await ctx.elicit({ message: "Third?", schema: z.object({ age: z.number() }) });
        return [first, second.value, third.value];
      },
    });
    await rig.call(action);
    rig.answer({ value: "M" });
    expect(await rig.call(action, undefined, outside)).toMatchObject(asked);
    expect(rig.asked.map(({ position, question }) => [position, question.message])).toEqual([
      [1, "Second?"],
      [2, "Third?"],
    ]);
    rig.answer({ value: { age: 7 } });
    expect(await rig.call(action, undefined, outside)).toEqual([false, "M", { age: 7 }]);
  });

  it("asks again, with the problem, if the schema refuses an answer", async () => {
    const rig = createActionRig();
    const schema = z.string().refine((text) => text.startsWith("R"), { message: "Begins with R" });
    const action = refund({
      execute: async (_input, ctx) => ctx.elicit({ message: "Code?", schema }),
    });
    await rig.call(action);
    rig.answer({ value: "X1" });
    expect(await rig.call(action, undefined, outside)).toMatchObject(asked);
    expect(rig.asked[1]?.question.problem).toContain("Begins with R");
    rig.answer({ value: "R1" });
    expect(await rig.call(action, undefined, outside)).toEqual({ value: "R1" });
  });

  it("ends as an error that names both questions when a second one is asked meanwhile", async () => {
    const rig = createActionRig();
    const action = refund({
      execute: async (_input, ctx) =>
        Promise.all([ctx.confirm({ message: "Left?" }), ctx.confirm({ message: "Right?" })]),
    });
    const output = (await rig.call(action)) as { readonly error: { readonly message: string } };
    expect(output.error.message).toContain('"Left?"');
    expect(output.error.message).toContain('"Right?"');
    expect(rig.asked).toEqual([]);
  });

  it("ends as an error that names both when a later run asks something else", async () => {
    const rig = createActionRig();
    let runs = 0;
    const action = refund({
      execute: async (_input, ctx) => ctx.confirm({ message: `Question ${(runs += 1)}` }),
    });
    await rig.call(action);
    rig.answer({ value: true });
    const output = (await rig.call(action, undefined, outside)) as {
      readonly error: { readonly name: string; readonly message: string };
    };
    expect(output.error.name).toBe("ReplayError");
    expect(output.error.message).toContain('"Question 1"');
    expect(output.error.message).toContain('"Question 2"');
    expect(rig.failures).toMatchObject([{ code: "replay-diverged" }]);
  });

  it("lets nothing of a dropped run count", async () => {
    const rig = createActionRig();
    const later: string[] = [];
    let dropped: AbortSignal | undefined;
    const action = refund({
      execute: async (_input, ctx) => {
        dropped ??= ctx.signal;
        ctx.attachReply({ type: "note" });
        void ctx.confirm({ message: "Really?" });
        await new Promise((resolve) => {
          ctx.signal.addEventListener("abort", resolve);
        });
        await ctx.step("late", () => later.push("step"));
        later.push("after");
      },
    });
    expect(await rig.call(action)).toMatchObject(asked);
    expect(dropped?.aborted).toBe(true);
    await rig.clock.advance(60_000);
    expect(later).toEqual([]);
    expect(rig.attachments()).toEqual([]);
    expect(rig.clock.nextTimerAt()).toBeUndefined();
  });

  it("runs no `finally` and no `catch` of the run that asks, and those of the last run once", async () => {
    const rig = createActionRig();
    const seen: string[] = [];
    const action = refund({
      execute: async (_input, ctx) => {
        try {
          return await ctx.confirm({ message: "Really?" });
        } catch {
          seen.push("catch");
          return "caught";
        } finally {
          seen.push("finally");
        }
      },
    });
    expect(await rig.call(action)).toMatchObject(asked);
    await rig.clock.advance(600_000);
    expect(seen).toEqual([]);
    rig.answer({ value: true });
    expect(await rig.call(action, undefined, outside)).toBe(true);
    expect(seen).toEqual(["finally"]);
  });

  it("does not count the wait in timeoutMs, which each run has for itself", async () => {
    const rig = createActionRig();
    const action = refund({
      timeoutMs: 1_000,
      execute: async (_input, ctx) => {
        const work = Promise.withResolvers<void>();
        rig.clock.setTimeout(work.resolve, 900);
        await work.promise;
        return ctx.confirm({ message: "Really?" });
      },
    });
    const first = rig.call(action);
    await rig.clock.advance(900);
    expect(await first).toMatchObject(asked);
    await rig.clock.advance(3_000_000);
    rig.answer({ value: true });
    const second = rig.call(action, undefined, outside);
    await rig.clock.advance(900);
    expect(await second).toBe(true);
  });

  it("lets no other call take over a run that asks, also not one of the same key", async () => {
    const rig = createActionRig();
    const action = refund({
      idempotencyKey: "7",
      idempotencyScope: "bot",
      execute: async (_input, ctx) => ctx.confirm({ message: "Really?" }),
    });
    rig.isLedgerRemote = true;
    await rig.call(action);
    rig.restart();
    await rig.clock.advance(600_000);
    const other = { toolCallId: "call-2" };
    expect(await rig.call(action, undefined, other)).toMatchObject({ error: { name: "ActionAskingError" } });
    rig.answer({ value: true });
    expect(await rig.call(action, undefined, outside)).toBe(true);
    expect(await rig.call(action, undefined, other)).toBe(true);
  });

  it("asks again after a run that failed", async () => {
    const rig = createActionRig();
    const action = refund({
      idempotencyKey: "7",
      execute: async (_input, ctx) => {
        if (await ctx.confirm({ message: "Really?" })) throw new Error("The shop is closed.");
        return "kept";
      },
    });
    await rig.call(action);
    rig.answer({ value: true });
    expect(await rig.call(action, undefined, outside)).toMatchObject({ error: { name: "ActionFailed" } });
    const again = { toolCallId: "call-2" };
    expect(await rig.call(action, undefined, again)).toMatchObject(asked);
    rig.answer({ value: false });
    expect(await rig.call(action, undefined, { ...again, ...outside })).toBe("kept");
  });

  it.each([
    ["an empty message", (ctx: ActionContext) => ctx.confirm({ message: " " }), "question-invalid"],
    [
      "no options",
      (ctx: ActionContext) => ctx.choose({ message: "Which?", options: [] }),
      "question-invalid",
    ],
    [
      "equal options",
      (ctx: ActionContext) => ctx.choose({ message: "Which?", options: ["S", "S"] }),
      "question-invalid",
    ],
    [
      "more than 89 days",
      (ctx: ActionContext) => ctx.confirm({ message: "Well?", expiresAfterMs: 8e9 }),
      "question-invalid",
    ],
    [
      "a misspelt option",
      (ctx: ActionContext) => {
        const misspelt = { message: "PIN?", schema: z.string(), sensitiv: true };
        return ctx.elicit(misspelt);
      },
      "question-invalid",
    ],
    [
      "a schema without JSON Schema",
      (ctx: ActionContext) => {
        const standard = { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) } as const;
        return ctx.elicit({ message: "Well?", schema: { "~standard": standard } as never });
      },
      "schema-undescribed",
    ],
  ])("refuses %s", async (_what, ask, code) => {
    const rig = createActionRig();
    const action = refund({ execute: async (_input, ctx) => ask(ctx) });
    await rig.call(action);
    expect(rig.failures).toMatchObject([{ code }]);
  });

  it("asks only in execute", async () => {
    const rig = createActionRig();
    const action = refund({
      permissions: async ({ ctx }) => ((await ctx.confirm({ message: "Really?" })) ? [] : ["refund"]),
    });
    await rig.call(action);
    expect(rig.failures).toMatchObject([{ code: "question-outside-execute" }]);
  });
});

describe("ctx.step", () => {
  it("does its work once, whatever is asked behind it", async () => {
    const rig = createActionRig();
    let holds = 0;
    const action = refund({
      execute: async (_input, ctx) => {
        const hold = await ctx.step("hold", () => ({ id: (holds += 1), at: new Date(0) }));
        const isWanted = await ctx.confirm({ message: "Really?" });
        return { hold, isWanted };
      },
    });
    await rig.call(action);
    rig.answer({ value: true });
    const hold = { id: 1, at: "1970-01-01T00:00:00.000Z" };
    expect(await rig.call(action, undefined, outside)).toEqual({ hold, isWanted: true });
    expect(holds).toBe(1);
  });

  it("is recorded before a crash, and an interrupted one is repeated like its action", async () => {
    for (const isKeyed of [true, false]) {
      const rig = createActionRig();
      const done: string[] = [];
      let isStuck = true;
      const action = refund({
        ...(isKeyed && { idempotencyKey: "7" }),
        execute: async (_input, ctx) => {
          await ctx.step("first", () => done.push(`first ${ctx.attempt}`));
          await ctx.step("second", async () => {
            done.push(`second ${ctx.attempt}`);
            if (isStuck) await new Promise(() => {});
          });
          return "done";
        },
      });
      const stuck = rig.call(action);
      await rig.clock.advance(1);
      rig.restart();
      expect(await stuck).toBe(killed);
      isStuck = false;
      const output = await rig.call(action);
      if (isKeyed) expect(output).toBe("done");
      else expect(output).toMatchObject({ error: { name: "ActionPendingError" } });
      expect(done).toEqual(["first 1", "second 1", ...(isKeyed ? ["second 2"] : [])]);
    }
  });
});
