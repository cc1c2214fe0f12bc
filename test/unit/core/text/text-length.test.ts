import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textLength } from "../../../../src/core/text/text-length.ts";

describe("the length of a text", () => {
  it.each([
    ["abc", 3, 3, 3],
    ["ä", 1, 1, 2],
    ["€", 1, 1, 3],
    ["🌈", 2, 1, 4],
    ["👨‍👩‍👧", 8, 5, 18],
    ["", 0, 0, 0],
  ])("counts %j in each unit", (text, units, points, bytes) => {
    expect(textLength(text)).toBe(units);
    expect(textLength(text, "code-points")).toBe(points);
    expect(textLength(text, "utf8-bytes")).toBe(bytes);
  });

  it("never shrinks as the text grows, in any unit", () => {
    const unit = fc.constantFrom("utf16", "code-points", "utf8-bytes" as const);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(), unit, (text, at, unit) => {
        const end = at % (text.length + 1);
        expect(textLength(text.slice(0, end), unit)).toBeLessThanOrEqual(textLength(text, unit));
      }),
    );
  });
});
