import { describe, expect, it } from "vitest";
import { costlyTexts } from "../../support/costly-texts.ts";
import { inChunks, streamThrough } from "./stream-through.ts";

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

/** A busy machine only ever adds time: what is measured too high once is measured again. */
const NOISE = { retry: 4 };

describe("the work of cleaning a text that streams", NOISE, () => {
  it.each(Object.entries(costlyTexts))("grows in proportion to the length of %s", (_name, make) => {
    const stream = (length: number) => (): void => {
      streamThrough(inChunks(make(length), 12));
    };
    stream(5000)();
    const smallWork = leastWork(3, stream(10_000));
    const largeWork = leastWork(2, stream(40_000));
    // Four times the text: work in proportion is four times as much, quadratic work sixteen times.
    expect(largeWork).toBeLessThan(smallWork * 8 + 30);
  });
});
