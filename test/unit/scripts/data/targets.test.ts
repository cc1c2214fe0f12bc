import { describe, expect, it } from "vitest";
import { namesOne } from "../../../../scripts/data/targets.ts";

describe("a stored value", () => {
  it.each([
    ["4711", true],
    ["telegram:4711", true],
    ["thread:telegram:telegram%3A4711", true],
    ['{"from":{"id":4711}}', true],
    [Buffer.from('{"id":4711}'), true],
    ["c:47110:1", false],
    ["14711", false],
    ["m:1:4712", false],
    ["", false],
    [null, false],
    // Numbers are times and counts. Ids are text.
    [4711, false],
  ])("%j names the chat 4711: %s", (value, expected) => {
    expect(namesOne(value, new Set(["4711"]))).toBe(expected);
  });

  it("names a group by its id with the sign", () => {
    expect(namesOne("telegram:-1004711:5", new Set(["-1004711"]))).toBe(true);
    expect(namesOne("telegram:-10047110", new Set(["-1004711"]))).toBe(false);
  });
});
