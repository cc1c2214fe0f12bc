import { describe, expect, it } from "vitest";
import type { Executor, SandboxProvider } from "../../../src/sandbox/executor.ts";

/** Promises that every executor keeps, wherever its code runs. */
export function executorContract(name: string, create: () => Executor): void {
  const run = (code: string, providers: SandboxProvider[] = []) => create().execute(code, providers);
  const notes = (fns: SandboxProvider["fns"]): SandboxProvider[] => [{ name: "notes", fns }];

  describe(`the contract of ${name}`, () => {
    it.each([
      ["an arrow function", "async () => 6 * 7"],
      ["an arrow function with a semicolon", "async () => {\n  return 6 * 7;\n};"],
      ["a function with a name", "async function main() { return 6 * 7; }"],
      ["statements that end with a value", "const six = 6;\nsix * 7"],
      ["statements that return", "const six = 6;\nreturn six * 7;"],
      ["code in a fence", "```js\nasync () => 6 * 7\n```"],
    ])("runs %s", async (_kind, code) => {
      expect(await run(code)).toEqual({ result: 42 });
    });

    it("returns values as JSON, and nothing as undefined", async () => {
      expect((await run("async () => ({ list: [1, null, 'ü', true], deep: { x: 1 } })")).result).toEqual({
        list: [1, null, "ü", true],
        deep: { x: 1 },
      });
      expect((await run("async () => {}")).result).toBeUndefined();
    });

    it("calls tools with their arguments, one after the other and side by side", async () => {
      const calls: unknown[] = [];
      const providers = notes({
        add: async (...args) => {
          calls.push(args);
          return { sum: Number(args[0]) + Number(args[1]) };
        },
      });
      const code = `async () => {
        const { sum } = await notes.add(1, 2);
        const both = await Promise.all([notes.add(sum, 1), notes.add(sum, 2)]);
        return both.map((one) => one.sum);
      }`;
      expect((await run(code, providers)).result).toEqual([4, 5]);
      expect(calls).toEqual([
        [1, 2],
        [3, 1],
        [3, 2],
      ]);
    });

    it("calls methods of connectors with one argument", async () => {
      const binding = { callTool: async (method: string, args: unknown) => ({ method, args }) };
      const end = await create().execute("async () => shop.find({ sku: 'A' })", [], {
        connectors: [{ name: "shop", binding }],
      });
      expect(end.result).toEqual({ method: "find", args: { sku: "A" } });
    });

    it("gives the code the message of a tool's error, which it may catch", async () => {
      const providers = notes({
        fail: async () => {
          throw new Error("no such note");
        },
      });
      expect((await run("async () => notes.fail()", providers)).error).toContain("no such note");
      const caught = "async () => { try { await notes.fail(); } catch (error) { return error.message; } }";
      expect((await run(caught, providers)).result).toBe("no such note");
      expect((await run("async () => notes.missing()", providers)).error).toContain("not found");
    });

    it("returns the code's own errors, and never throws", async () => {
      for (const code of [
        "async () => { throw new Error('a bad day') }",
        "async () => { throw 'a bad day' }",
        "async () => Promise.reject({ message: 'a bad day' })",
        "async () => { const error = new TypeError('a bad day'); error.stack = undefined; throw error; }",
      ]) {
        const end = await run(code);
        expect(end.error).toContain("a bad day");
        expect(end.result).toBeUndefined();
      }
      for (const code of [
        "async () => {",
        "async () => { throw undefined }",
        "async () => { throw new Error() }",
      ])
        expect((await run(code)).error).toBeTruthy();
      expect((await run("async () => missing.name")).error).toContain("missing");
    });

    it("collects the lines of console", async () => {
      const end = await run("async () => { console.log('a', 1); console.warn('b'); console.error('c'); }");
      expect(end.logs).toEqual(["a 1", "[warn] b", "[error] c"]);
    });

    it("passes bytes both ways", async () => {
      const seen: unknown[] = [];
      const providers = notes({
        read: async () => new Uint8Array([1, 2, 255]),
        write: async (bytes) => void seen.push(bytes),
      });
      const code =
        "async () => { const b = await notes.read(); await notes.write(b); return [b.length, b[2]]; }";
      expect((await run(code, providers)).result).toEqual([3, 255]);
      expect(seen).toEqual([new Uint8Array([1, 2, 255])]);
    });

    it("runs a prelude before the code", async () => {
      const prelude = "notes.twice = async (n) => 2 * (await notes.one()) * n;";
      const providers = [{ name: "notes", fns: { one: async () => 1 }, prelude }];
      expect((await run("async () => notes.twice(21)", providers)).result).toBe(42);
    });

    it("gives no network", async () => {
      expect((await run("async () => fetch('https://example.com')")).error).toBeTruthy();
    });

    it("refuses names that are none, taken, or used twice", async () => {
      const named = (...names: string[]) => names.map((one) => ({ name: one, fns: {} }));
      expect((await run("async () => 1", named("a-b"))).error).toContain("a-b");
      expect((await run("async () => 1", named("console"))).error).toContain("console");
      expect((await run("async () => 1", named("notes", "notes"))).error).toContain("notes");
    });
  });
}
