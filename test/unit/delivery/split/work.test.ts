import { describe, expect, it } from "vitest";
import { createPlanner, splitText } from "../../../../delivery/text/split/index.ts";
import { richBlocks, telegramEntities } from "../../../../delivery/text/render/index.ts";
import type { PlannerOptions } from "../../../../delivery/text/split/index.ts";
import type { Work } from "../../../../delivery/text/split/pack/meter.ts";
import type { RichText } from "../../../../src/core/rich-text.ts";
import { costlyTexts } from "../../../../lab/support/costly-texts.ts";

type Counts = Record<Work, number>;

const KINDS: readonly Work[] = ["scanned", "parsed", "skimmed", "placed", "rendered"];
const repeated = (text: string) => (length: number) => text.repeat(Math.ceil(length / text.length));
const texts = Object.entries({
  ...costlyTexts,
  "formulas in brackets that are never closed": repeated("\\[ x "),
  "formulas in parentheses that are never closed": repeated("\\( x "),
  "formulas and words": repeated("$x_1$ and "),
  "displayed formulas that are never closed": repeated("$$x "),
});

const asText: PlannerOptions<RichText> = {
  renderer: telegramEntities,
  limits: { maxLength: 4096, maxEntities: 100 },
};
const asBlocks: PlannerOptions<RichText> = {
  renderer: richBlocks,
  limits: { maxLength: 32_768, maxEntities: 500 },
};

function count(options: PlannerOptions<RichText>, work: (metered: PlannerOptions<RichText>) => void): Counts {
  const counts: Counts = { scanned: 0, parsed: 0, skimmed: 0, placed: 0, rendered: 0 };
  work({ ...options, meter: (kind, amount) => void (counts[kind] += amount) });
  return counts;
}

describe.each([
  ["text", asText],
  ["blocks", asBlocks],
] as const)("the work for %s", (_name, options) => {
  /** What one block and one line that are cut, and the part that is open, may cost once more. */
  const once: Counts = {
    scanned: 36_000,
    parsed: 28_000,
    skimmed: 20_000,
    placed: 1500,
    rendered: options.limits.maxLength * 2,
  };

  it.each(texts)("grows in proportion to the length of %s", (_text, make) => {
    const small = count(options, (metered) => splitText(make(4000), { ...metered, final: true }));
    const large = count(options, (metered) => splitText(make(16_000), { ...metered, final: true }));
    const tooMuch = KINDS.filter((kind) => large[kind] > small[kind] * 4.8 + once[kind] * 1.5);
    expect(tooMuch.map((kind) => [kind, small[kind], large[kind]])).toEqual([]);
  });

  it.each(texts)("does not grow for a chunk of %s with the text so far", (_text, make) => {
    for (const length of [2000, 20_000]) {
      const text = make(length + 200);
      let counts: Counts = { ...once };
      const meter = (kind: Work, amount: number): void => void (counts[kind] += amount);
      const planner = createPlanner({ ...options, meter });
      planner.append(text.slice(0, length));
      planner.parts();
      const total: Counts = { scanned: 0, parsed: 0, skimmed: 0, placed: 0, rendered: 0 };
      for (let at = length; at < length + 112; at += 16) {
        counts = { scanned: 0, parsed: 0, skimmed: 0, placed: 0, rendered: 0 };
        planner.append(text.slice(at, at + 16));
        planner.parts();
        const done = counts;
        const tooMuch = KINDS.filter((kind) => done[kind] > once[kind]);
        expect(tooMuch.map((kind) => [kind, at, done[kind]])).toEqual([]);
        for (const kind of KINDS) total[kind] += done[kind];
      }
      // Now and then a chunk ends a block, which is then read as a whole; the others read what is open.
      expect(total.parsed + total.skimmed).toBeLessThan(7 * 9000);
    }
  });
});

describe("a text that nobody reads", () => {
  it.each([
    ["closing brackets", asText],
    ["one row of a table", asBlocks],
    ["definitions", asText],
    ["half tags", asBlocks],
  ] as const)("is parsed up to a bound: %s", (name, options) => {
    const text = costlyTexts[name]?.(400_000) ?? "";
    const { parsed } = count(options, (metered) => splitText(text, { ...metered, final: true }));
    expect(parsed).toBeLessThan(830_000);
    expect(parsed).toBeGreaterThan(770_000);
  });

  it("is split within seconds, even if it is a megabyte", () => {
    const text = costlyTexts["prose"]?.(1_000_000) ?? "";
    const start = process.cpuUsage();
    splitText(text, {
      renderer: telegramEntities,
      limits: { maxLength: 4096, maxEntities: 100 },
      final: true,
    });
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(5000);
  });
});
