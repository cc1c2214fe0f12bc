import { describe, expect, it } from "vitest";
import { createPlanner, splitText, telegramEntities } from "../../../../delivery/split/index.ts";

const options = { renderer: telegramEntities, limits: { maxLength: 4096, maxEntities: 100 } };

/** One kind of text each that could make the work grow faster than the text. */
const units: Readonly<Record<string, string>> = {
  prose: `${"A sentence of plain prose that goes on. ".repeat(10)}\n\n`,
  "rich paragraphs": "Some *mixed* **prose** with a [link](https://example.com/x) and `code`.\n\n",
  "one list": "- item **one** here\n",
  "one code block": "~~~\nlet value = 1;\n",
  "one quote": "> words and more words\n",
  "one table": "| a | b |\n",
  "one word": "a",
  stars: "*a ",
  brackets: "[",
  backticks: "`a``b ",
  "quotes in quotes": ">",
  backslashes: "\\",
  formulas: "\\\\( $a ",
  references: "[a][b] ",
};

function textOf(unit: string, length: number): string {
  const head = unit.startsWith("|") ? `${unit}|---|---|\n` : "";
  return head + unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

/** Work counted in calls of the renderer would miss the parser, so time it is; the best of some runs, in milliseconds. */
function bestTime(runs: number, work: () => void): number {
  let best = Infinity;
  for (let run = 0; run < runs; run += 1) {
    const start = performance.now();
    work();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

describe("work", () => {
  it.each(Object.entries(units))("grows in proportion to the length of %s", (_name, unit) => {
    const small = textOf(unit, 20_000);
    const large = textOf(unit, 80_000);
    splitText(small, { ...options, final: true });
    const smallTime = bestTime(2, () => splitText(small, { ...options, final: true }));
    const largeTime = bestTime(2, () => splitText(large, { ...options, final: true }));
    // Four times the text; twice that is allowed for noise, four times four would be quadratic.
    expect(largeTime).toBeLessThan(smallTime * 8 + 20);
  });

  it.each(Object.entries(units))("does not grow for a chunk of %s with the text so far", (_name, unit) => {
    const chunkTime = (length: number): number => {
      const planner = createPlanner(options);
      planner.append(textOf(unit, length));
      planner.parts();
      return bestTime(2, () => {
        for (let chunk = 0; chunk < 5; chunk += 1) {
          planner.append(textOf(unit, 16));
          planner.parts();
        }
      });
    };
    chunkTime(1000);
    // A block is read again until it has 16,384 characters, so that is what a long text is compared with.
    expect(chunkTime(60_000)).toBeLessThan(Math.max(chunkTime(15_000), chunkTime(8000)) * 4 + 20);
  });

  it("splits a megabyte of prose in about a second", () => {
    const text = textOf(units["prose"] ?? "", 1_000_000);
    const reference = bestTime(1, () => splitText(text.slice(0, 100_000), { ...options, final: true }));
    const time = bestTime(1, () => splitText(text, { ...options, final: true }));
    expect(time).toBeLessThan(Math.max(1000, reference * 20));
  });
});
