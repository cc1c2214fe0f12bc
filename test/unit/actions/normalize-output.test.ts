import fc from "fast-check";
import { expect, it } from "vitest";
import { MAX_OUTPUT_CHARACTERS, normalizeOutput } from "../../../src/actions/declare/normalize-output.ts";

const circular: { name: string; self?: unknown } = { name: "a" };
circular.self = circular;

it.each([
  ["undefined", undefined, null],
  ["a bigint", 12n, "12"],
  ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["an invalid date", new Date(Number.NaN), null],
  ["not a number", Number.NaN, null],
  ["undefined fields", { a: 1, b: undefined, c: () => 1 }, { a: 1 }],
  ["a hole in a list", [1, undefined], [1, null]],
  ["a value that contains itself", circular, { name: "a", self: "[circular]" }],
  ["an error, without its message (I10)", new TypeError("secret"), { name: "TypeError" }],
  ["a map", new Map([["a", 1]]), { a: 1 }],
  ["a map with other keys", new Map([[1, 2]]), [[1, 2]]],
  ["a set", new Set([1, 2]), [1, 2]],
  ["bytes", new Uint8Array(3), "[3 bytes]"],
  ["toJSON", { toJSON: () => ({ a: 1n }) }, { a: "1" }],
])("normalises %s", (_name, value, expected) => {
  expect(normalizeOutput(value)).toEqual(expected);
});

it("keeps the same object twice, if it does not contain itself", () => {
  const shared = { a: 1 };
  expect(normalizeOutput([shared, shared])).toEqual([shared, shared]);
});

it("cuts a long output and says how much is missing", () => {
  const text = normalizeOutput("x".repeat(30_000));
  expect(text).toMatch(/x\n\[10,0\d\d more characters were left out\]$/);
  expect(text).toHaveLength(MAX_OUTPUT_CHARACTERS);
});

it("is JSON that survives storage, within the limit, for any value", () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }), (value) => {
      const json = normalizeOutput(value);
      const text = JSON.stringify(json);
      expect(JSON.parse(text)).toEqual(json);
      expect((typeof json === "string" ? json : text).length).toBeLessThanOrEqual(MAX_OUTPUT_CHARACTERS);
    }),
    { numRuns: 300 },
  );
});
