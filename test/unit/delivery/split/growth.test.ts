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
  formulas: "\\( $a ",
  references: "[a][b] ",
};

function textOf(unit: string, length: number): string {
  const head = unit.startsWith("|") ? `${unit}|---|---|\n` : "";
  return head + unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

/** Processor time of the best of some runs, in milliseconds: on a busy machine the clock says little. */
function leastWork(runs: number, work: () => void): number {
  let least = Infinity;
  for (let run = 0; run < runs; run += 1) {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

function split(text: string): void {
  splitText(text, { ...options, final: true });
}

describe("work", () => {
  it.each(Object.entries(units))("grows in proportion to the length of %s", (_name, unit) => {
    const small = textOf(unit, 16_000);
    const large = textOf(unit, 64_000);
    split(small);
    const smallWork = leastWork(2, () => split(small));
    const largeWork = leastWork(1, () => split(large));
    // Four times the text: work in proportion is four times as much, quadratic work sixteen times.
    expect(largeWork).toBeLessThan(smallWork * 9 + 60);
  });

  const openBlocks = Object.entries(units).filter(([name]) => /^one|references|prose/.test(name));

  it.each(openBlocks)("does not grow for a chunk of %s with the text so far", (_name, unit) => {
    const chunkWork = (length: number): number => {
      const planner = createPlanner(options);
      planner.append(textOf(unit, length));
      planner.parts();
      return leastWork(3, () => {
        for (let chunk = 0; chunk < 3; chunk += 1) {
          planner.append(textOf(unit, 16));
          planner.parts();
        }
      });
    };
    chunkWork(1000);
    // A block is read again until it has 16,384 characters, so that is what a long text is compared with.
    const reference = Math.max(chunkWork(15_000), chunkWork(7_500));
    expect(chunkWork(80_000)).toBeLessThan(reference * 4 + 30);
  });

  it("splits a megabyte of prose in about a second", () => {
    const text = textOf(units["prose"] ?? "", 1_000_000);
    split(text.slice(0, 100_000));
    const tenth = leastWork(2, () => split(text.slice(0, 100_000)));
    expect(leastWork(1, () => split(text))).toBeLessThan(Math.max(1000, tenth * 20));
  });
});
