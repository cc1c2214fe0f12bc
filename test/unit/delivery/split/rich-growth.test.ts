import { describe, expect, it } from "vitest";
import { richBlocks, splitText } from "../../../../delivery/split/index.ts";
import { costlyTexts } from "../../../support/costly-texts.ts";

const options = { renderer: richBlocks, limits: { maxLength: 32_768, maxEntities: 500 }, final: true };

/** Processor time of the best of some runs, in milliseconds: on a busy machine the clock says little. */
function leastWork(runs: number, text: string): number {
  let least = Infinity;
  for (let run = 0; run < runs; run += 1) {
    const start = process.cpuUsage();
    splitText(text, options);
    const { user, system } = process.cpuUsage(start);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

const repeated = (text: string) => (length: number) => text.repeat(Math.ceil(length / text.length));

/** A busy machine only ever adds time: what is measured too high once is measured again. */
const NOISE = { retry: 4 };

describe("the work for rich messages", NOISE, () => {
  it.each(
    Object.entries({
      ...costlyTexts,
      "formulas in brackets that are never closed": repeated("\\[ x "),
      "formulas in parentheses that are never closed": repeated("\\( x "),
      "dollars apart": repeated("$ x "),
      "half formulas": repeated("$x "),
      "many formulas": repeated("$x_1$ and "),
      "displayed formulas that are never closed": repeated("$$x "),
    }),
  )("grows in proportion to the length of %s", (_name, make) => {
    const small = make(6_000);
    const large = make(24_000);
    splitText(small, options);
    // Four times the text: work in proportion is four times as much, quadratic work sixteen times.
    expect(leastWork(2, large)).toBeLessThan(leastWork(3, small) * 8 + 40);
  });
});
