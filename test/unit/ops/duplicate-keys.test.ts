import { expect, it } from "vitest";
import { isOfMessengers } from "../../../ops/serve/duplicate-keys.ts";

it.each([
  ["defineMessengers({ a: {}, a", true],
  ["defineMessengers(\n  {\n    a: telegramFromEnv(this.env, { limits: {} }),\n    a", true],
  ["defineMessengers({ a: f({ x: 1, x", false],
  ["const o = { a: 1, a", false],
  ["f(defineMessengers({}), { a: 1, a", false],
])("knows whether a key is a messenger's id: %j", (code, expected) => {
  const lines = code.split("\n");
  expect(isOfMessengers(code, lines.length, lines.at(-1)?.length ?? 0)).toBe(expected);
});
