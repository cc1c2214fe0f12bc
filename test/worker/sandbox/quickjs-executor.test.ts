import type { Executor as CodemodeExecutor } from "@cloudflare/codemode";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { Executor } from "../../../src/sandbox/executor.ts";
import { createQuickJSExecutor } from "../../../src/sandbox/quickjs-executor.ts";
import { executorContract } from "./executor-contract.ts";

executorContract("createQuickJSExecutor", () => createQuickJSExecutor());

describe("createQuickJSExecutor", () => {
  it("is an executor of codemode", () => {
    expectTypeOf<Executor>().toExtend<CodemodeExecutor>();
    expectTypeOf<CodemodeExecutor>().toExtend<Executor>();
  });

  it("lets the time stand still, and knows no timers", async () => {
    const code = `async () => {
      const before = Date.now();
      await notes.wait();
      return [Date.now() - before, new Date().getTime() - before, new Date(0).toISOString(),
        new Date() instanceof Date, typeof Date(), typeof setTimeout, typeof fetch, typeof process];
    }`;
    const wait = () => new Promise((resolve) => setTimeout(resolve, 5));
    const { result } = await createQuickJSExecutor().execute(code, [{ name: "notes", fns: { wait } }]);
    const missing = "undefined";
    expect(result).toEqual([0, 0, "1970-01-01T00:00:00.000Z", true, "string", missing, missing, missing]);
  });

  it("gives the random numbers of its seed", async () => {
    const numbers = async (id: string): Promise<unknown> => {
      const deps = { clock: { now: () => 5, setTimeout: () => 0, clearTimeout: () => {} }, newId: () => id };
      const executor = createQuickJSExecutor({ deps });
      return (await executor.execute("async () => [Math.random(), Math.random(), Date.now()]", [])).result;
    };
    expect(await numbers("a")).toEqual(await numbers("a"));
    expect(await numbers("a")).not.toEqual(await numbers("b"));
    const [one, two] = (await numbers("a")) as number[];
    expect(one).not.toBe(two);
    expect(one).toBeGreaterThanOrEqual(0);
    expect(one).toBeLessThan(1);
  });

  it("keeps at most two runs alive, and lets others wait their turn", async () => {
    const executor = createQuickJSExecutor();
    let alive = 0;
    let most = 0;
    const gates: (() => void)[] = [];
    const enter = async () => {
      alive += 1;
      most = Math.max(most, alive);
      await new Promise<void>((resolve) => gates.push(resolve));
      alive -= 1;
    };
    const runs = Array.from({ length: 5 }, () =>
      executor.execute("async () => { await notes.enter(); return 1; }", [{ name: "notes", fns: { enter } }]),
    );
    for (let left = runs.length; left > 0; left -= 1) {
      await expect.poll(() => gates.length).toBeGreaterThan(0);
      gates.shift()?.();
    }
    expect((await Promise.all(runs)).map(({ result }) => result)).toEqual([1, 1, 1, 1, 1]);
    expect(most).toBe(2);
  });

  it("drops a run when its signal aborts, whatever its catch and finally say", async () => {
    const calls: string[] = [];
    const drop = new AbortController();
    const fns = {
      ask: () => {
        calls.push("ask");
        drop.abort();
        return new Promise<void>(() => {});
      },
      after: async () => void calls.push("after"),
    };
    const code = "async () => { try { await notes.ask(); } catch {} finally { await notes.after(); } }";
    const end = await createQuickJSExecutor().execute(code, [{ name: "notes", fns }], {
      signal: drop.signal,
    });
    expect(end.error).toBe("The run was dropped.");
    expect(calls).toEqual(["ask"]);
  });

  it("ends code that waits for nothing", async () => {
    const end = await createQuickJSExecutor().execute("async () => new Promise(() => {})", []);
    expect(end.error).toContain("never happens");
  });

  it("answers without the calls that the code does not await", async () => {
    const fns = { slow: () => new Promise(() => {}) };
    const end = await createQuickJSExecutor().execute("async () => { notes.slow(); return 1; }", [
      { name: "notes", fns },
    ]);
    expect(end).toEqual({ result: 1 });
  });

  it("refuses options that do not exist", () => {
    expect(() => createQuickJSExecutor({ limits: { tick: 5 } as never })).toThrow(/Did you mean "ticks"/);
    expect(() => createQuickJSExecutor({ limits: { memoryBytes: 5 } })).toThrow(/memoryBytes/);
  });
});
