import { describe, expect, it } from "vitest";
import type { SandboxLimit, SandboxProvider } from "../../../src/sandbox/executor.ts";
import { createQuickJSExecutor } from "../../../src/sandbox/quickjs-executor.ts";

const executor = createQuickJSExecutor();
const run = (code: string, providers: SandboxProvider[] = []) => executor.execute(code, providers);

/** Code that would hold the thread for seconds or forever. */
const ENDLESS: readonly (readonly [name: string, code: string])[] = [
  ["a loop", "for (;;) {}"],
  ["a loop that catches everything", "for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }"],
  ["a loop of resolved promises", "const again = () => Promise.resolve().then(again); await again()"],
  ["async functions without an end", "const f = async () => { await 0; return f(); }; await f()"],
  ["a generator", "for (const one of (function* () { for (;;) yield 1; })()) {}"],
  ["a hopeless regular expression", "/^(a+)+$/.test('a'.repeat(40) + 'b')"],
  ["a search through a sparse array", "const a = []; a.length = 4e9; a.indexOf(1)"],
  ["a search through a false array", "[].indexOf.call({ length: 2 ** 53 - 1 }, 1)"],
  ["a sort of a false array", "Array.prototype.sort.call({ length: 2 ** 32 })"],
  ["a search in a text", "('a'.repeat(2e6)).indexOf('a'.repeat(1e6) + 'b')"],
  ["copies of a large text", "const s = 'a'.repeat(4e6); for (;;) s.slice(1)"],
  ["large arrays", "for (;;) new Uint8Array(4e6).fill(1)"],
  ["a division of large numbers", "(2n ** 1000000n) / (3n ** 100000n)"],
  ["a number of many digits", "BigInt('1'.repeat(200000))"],
  ["a sort of bytes", "for (;;) new Uint8Array(4e6).map((_, i) => i).sort()"],
  [
    "JSON again and again",
    "const a = Array.from({ length: 1e4 }, (_, i) => ({ i })); for (;;) JSON.parse(JSON.stringify(a))",
  ],
  ["a text in normal form", "const s = 'e\\u0301'.repeat(1e5); for (;;) s.normalize('NFC')"],
  ["numbers", "let n = 0; for (;;) n += Math.sin(n) * Math.pow(n, 0.3)"],
  ["a getter on the returned value", "return { get value() { for (;;) {} } }"],
  ["toJSON of the returned value", "return { toJSON() { for (;;) {} } }"],
  ["a getter on the thrown error", "throw { get message() { for (;;) {} } }"],
  ["a proxy as the result", "return new Proxy({}, { ownKeys() { for (;;) {} } })"],
];

describe("the sandbox under attack", () => {
  it.each(ENDLESS)("ends %s", async (_name, code) => {
    const body = code.startsWith("return") || code.startsWith("throw") ? code : `${code};`;
    const end = await run(`async () => { ${body} }`);
    expect(end.limit).toBe("ticks" satisfies SandboxLimit);
    expect(end.error).toContain("computed for too long");
    expect(await run("async () => 1")).toEqual({ result: 1 });
  });

  it.each([
    ["one allocation", "new Uint8Array(1e9)"],
    ["a long text", "'x'.repeat(2 ** 29)"],
    ["one array", "new Array(2 ** 26).fill(0)"],
  ])("fails %s above its memory", async (_name, code) => {
    expect((await run(`async () => ${code}.length`)).error).toBeTruthy();
    expect(await run("async () => 1")).toEqual({ result: 1 });
  });

  it("ends code that fills its memory piece by piece", async () => {
    const greedy = createQuickJSExecutor({ limits: { ticks: 20_000_000 } });
    const end = await greedy.execute(
      "async () => { const a = []; for (;;) a.push(new Uint8Array(1e5)); }",
      [],
    );
    expect(end.error).toContain("memory");
    const patient =
      "async () => { const a = []; for (;;) { try { for (;;) a.push(new Uint8Array(1e5)); } catch {} } }";
    expect((await greedy.execute(patient, [])).limit).toBe("ticks");
    expect(await greedy.execute("async () => 1", [])).toEqual({ result: 1 });
  });

  it("ends recursion, and nesting that only the engine walks through", async () => {
    expect((await run("async () => { const f = () => f(); f(); }")).error).toMatch(/stack/);
    const nested = "async () => { let o = {}; for (let i = 0; i < 5e4; i++) o = { o }; return o; }";
    expect((await run(nested)).error).toBeTruthy();
    expect((await run("async () => eval('['.repeat(1e5) + ']'.repeat(1e5))")).error).toBeTruthy();
    expect(await run("async () => 1")).toEqual({ result: 1 });
  });

  it("takes 10,000 pending promises, and ends a flood of calls", async () => {
    const promises =
      "async () => { const all = []; for (let i = 0; i < 1e4; i++) all.push(new Promise(() => {})); return all.length; }";
    expect((await run(promises)).result).toBe(10_000);
    let calls = 0;
    const fns = { go: () => new Promise<void>(() => void (calls += 1)) };
    const flood =
      "async () => { const all = []; for (let i = 0; i < 1e4; i++) all.push(notes.go()); await Promise.all(all); }";
    const end = await run(flood, [{ name: "notes", fns }]);
    expect(end.limit).toBe("calls" satisfies SandboxLimit);
    expect(calls).toBe(1000);
  });

  it.each([
    ["returned", "return 'x'.repeat(6e5)"],
    ["logged", "for (let i = 0; i < 1000; i++) console.log('x'.repeat(1e5))"],
    ["thrown", "throw 'x'.repeat(6e5)"],
    ["given to a tool", "await notes.take('x'.repeat(6e5))"],
  ])("ends code whose output is too long: %s", async (_kind, body) => {
    const taken: unknown[] = [];
    const fns = { take: async (text: unknown) => void taken.push(text) };
    const end = await run(`async () => { ${body}; }`, [{ name: "notes", fns }]);
    expect(end.limit).toBe("outputBytes" satisfies SandboxLimit);
    expect((end.logs ?? []).join("").length).toBeLessThanOrEqual(500_000);
    expect(taken).toEqual([]);
  });

  it("returns none of 100 MB", async () => {
    const end = await run("async () => Array.from({ length: 1000 }, () => 'x'.repeat(1e5))");
    expect(end.error).toBeTruthy();
    expect(end.result).toBeUndefined();
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
