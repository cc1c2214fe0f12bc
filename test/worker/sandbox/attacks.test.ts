import { describe, expect, it } from "vitest";
import type { SandboxLimit, SandboxProvider } from "../../../src/sandbox/executor.ts";
import { createQuickJSExecutor } from "../../../src/sandbox/quickjs-executor.ts";
import { DEEP, ENDLESS, FLOOD, GREEDY, PROMISES, WORDY } from "../../support/sandbox-attacks.ts";

const executor = createQuickJSExecutor();
const run = (code: string, providers: SandboxProvider[] = []) => executor.execute(code, providers);

describe("the sandbox under attack", () => {
  it.each(ENDLESS)("ends %s", async (_name, code) => {
    const end = await run(`async () => { ${code} }`);
    expect(end.limit).toBe("ticks" satisfies SandboxLimit);
    expect(end.error).toContain("computed for too long");
    expect(await run("async () => 1")).toEqual({ result: 1 });
  });

  it.each(GREEDY)("ends %s above its memory, and says so", async (_name, code) => {
    expect(await run(`async () => { ${code} }`)).toEqual({
      result: undefined,
      limit: "memoryBytes" satisfies SandboxLimit,
      error: "The code needed more than 32 MiB of memory, so it was ended. Keep less data at once.",
    });
    expect(await run("async () => 1")).toEqual({ result: 1 });
  });

  it("ends code that fills its memory piece by piece", async () => {
    const steady = createQuickJSExecutor({ limits: { ticks: 100_000_000 } });
    const small = "async () => { for (;;) globalThis.all = { all: globalThis.all }; }";
    expect((await steady.execute(small, [])).limit).toBe("memoryBytes" satisfies SandboxLimit);
    const greedy = createQuickJSExecutor({ limits: { ticks: 20_000_000 } });
    const patient =
      "async () => { const a = []; for (;;) { try { for (;;) a.push(new Uint8Array(1e5)); } catch {} } }";
    expect((await greedy.execute(patient, [])).limit).toBe("ticks");
    expect(await greedy.execute("async () => 1", [])).toEqual({ result: 1 });
  });

  it.each(DEEP)("ends %s above its stack, and says so", async (_name, code) => {
    expect(await run(`async () => { ${code} }`)).toEqual({
      result: undefined,
      limit: "stackBytes" satisfies SandboxLimit,
      error:
        "The code nested its calls or its data too deep, so it was ended. Use a loop instead of recursion.",
    });
    expect(await run("async () => 1")).toEqual({ result: 1 });
  });

  it("lets code catch a failure for memory or stack, and takes no other error for one", async () => {
    const caught = "async () => { const f = () => f(); try { f(); } catch { return 'caught'; } }";
    expect(await run(caught)).toEqual({ result: "caught" });
    for (const thrown of ["new Error('out of memory')", "{ message: 'stack overflow' }", "null"])
      expect((await run(`async () => { throw ${thrown}; }`)).limit).toBeUndefined();
    expect((await run("async () => eval('['.repeat(1e5) + ']'.repeat(1e5))")).error).toBeTruthy();
  });

  it("takes 10,000 pending promises, and ends a flood of calls", async () => {
    expect((await run(`async () => { ${PROMISES} }`)).result).toBe(10_000);
    let calls = 0;
    const fns = { go: () => new Promise<void>(() => void (calls += 1)) };
    const end = await run(`async () => { ${FLOOD} }`, [{ name: "notes", fns }]);
    expect(end.limit).toBe("calls" satisfies SandboxLimit);
    expect(calls).toBe(1000);
  });

  it.each(WORDY)("ends code whose output is too long: %s", async (_kind, body) => {
    const taken: unknown[] = [];
    const fns = { take: async (text: unknown) => void taken.push(text) };
    const end = await run(`async () => { ${body}; }`, [{ name: "notes", fns }]);
    expect(end.limit).toBe("outputBytes" satisfies SandboxLimit);
    expect((end.logs ?? []).join("").length).toBeLessThanOrEqual(500_000);
    expect(taken).toEqual([]);
  });

  it("ends a run whose tool takes too long", async () => {
    const hasty = createQuickJSExecutor({ limits: { timeoutMs: 20 } });
    const fns = { slow: () => new Promise<void>(() => {}) };
    const end = await hasty.execute("async () => notes.slow()", [{ name: "notes", fns }]);
    expect(end.limit).toBe("timeoutMs" satisfies SandboxLimit);
  });

  it.each([
    ["the constructor of a function", "notes.get.constructor('return typeof process')()"],
    ["the constructor of a constructor", "({}).constructor.constructor('return typeof process')()"],
    [
      "the constructor of a tool's result",
      "(await notes.get()).constructor.constructor('return typeof process')()",
    ],
    ["the constructor of a tool's promise", "notes.get().constructor.constructor('return typeof process')()"],
    [
      "a tool's error",
      "await notes.fail().catch((e) => e.constructor.constructor('return typeof process')())",
    ],
    [
      "the stack of a tool's error",
      "await notes.fail().catch((e) => String(e.stack).includes('.ts') ? 'object' : 'undefined')",
    ],
    ["the global object", "typeof globalThis.process"],
    ["an import", "await import('node:fs').then(() => 'object', () => 'undefined')"],
  ])("keeps the host out of reach of %s", async (_way, code) => {
    const fns = {
      get: async () => ({ secret: 1 }),
      fail: async () => {
        throw new Error("no");
      },
    };
    const end = await run(`async () => { return ${code}; }`, [{ name: "notes", fns }]);
    expect(end.result).toBe("undefined");
  });

  it("is not confused by code that breaks its own surroundings", async () => {
    const code = `async () => {
      Object.prototype.toJSON = () => 'mine'; Map.prototype.get = () => { throw 1 };
      Promise.prototype.then = () => {}; globalThis.JSON = null; Array.prototype.map = null;
      Object.defineProperty(Object.prototype, '__proto__', { get: () => 1 });
      await notes.get();
      return 1;
    }`;
    const end = await run(code, [{ name: "notes", fns: { get: async () => 1 } }]);
    expect(end).toBeDefined();
    expect(Reflect.get({}, "toJSON")).toBeUndefined();
    expect(await run("async () => JSON.stringify([1].map((n) => n))")).toEqual({ result: "[1]" });
  });

  it("keeps what a value names __proto__ a plain field", async () => {
    const seen: unknown[] = [];
    const fns = { take: async (value: unknown) => void seen.push(value) };
    await run(`async () => notes.take(JSON.parse('{"__proto__":{"isAdmin":true}}'))`, [
      { name: "notes", fns },
    ]);
    expect(Reflect.get(Object(seen[0]), "isAdmin")).toBeUndefined();
    expect(Reflect.get({}, "isAdmin")).toBeUndefined();
  });

  it("lets nothing of a run into another one", async () => {
    await run("async () => { globalThis.left = 'text'; Array.prototype.left = 'text'; }");
    expect((await run("async () => [typeof left, typeof [].left]")).result).toEqual([
      "undefined",
      "undefined",
    ]);
  });
});
