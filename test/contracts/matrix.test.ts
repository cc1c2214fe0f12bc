import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { contracts } from "./contracts.ts";
import { broken, cannot, degraded } from "./expectation.ts";
import { capabilityMatrix } from "./matrix.ts";
import { allRows } from "./rows.ts";

const page = path.resolve(import.meta.dirname, "../../docs/reference/platforms.md");

it("has a page as the contracts say; otherwise run `npm run reference`", () => {
  expect(readFileSync(page, "utf8")).toBe(capabilityMatrix(allRows, contracts));
});

it("shows for each platform what works, what is less, what cannot be and what is wrong", () => {
  const rows = ["a", "b", "c", "d"].map((key) => ({
    key,
    title: `Row ${key}`,
    play: () => Promise.resolve(() => "works"),
  }));
  const expected = { b: degraded("x", "less"), c: cannot("y", "never"), d: broken("z", "not yet") };
  const text = capabilityMatrix(rows, [
    { title: "One", expected },
    { title: "Two", expected: {} },
  ]);
  expect(text).toContain("| Row a | ✓ | ✓ |\n| Row b | (✓) | ✓ |\n| Row c | – | ✓ |\n| Row d | ✗ | ✓ |");
  expect(text).toContain("## One\n\n- (✓) Row b: less\n- – Row c: never\n- ✗ Row d: not yet\n");
  expect(text).toContain("## Two\n\nEverything works.\n");
});
