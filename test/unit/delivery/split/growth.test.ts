import { describe, expect, it } from "vitest";
import { createPlanner, splitText, telegramEntities } from "../../../../delivery/split/index.ts";
import { costlyTexts } from "../../../support/costly-texts.ts";
import { leastWork, NOISE } from "../../../support/least-work.ts";

const options = { renderer: telegramEntities, limits: { maxLength: 4096, maxEntities: 100 } };

function split(text: string): void {
  splitText(text, { ...options, final: true });
}

const kinds = Object.entries(costlyTexts);

describe("work", NOISE, () => {
  it.each(kinds)("grows in proportion to the length of %s", (_name, make) => {
    const small = make(5000);
    const large = make(20_000);
    split(small);
    const smallWork = leastWork(2, () => split(small));
    const largeWork = leastWork(1, () => split(large));
    // Four times the text: work in proportion is four times as much, quadratic work sixteen times.
    expect(largeWork).toBeLessThan(smallWork * 8 + 30);
  });

  it.each(kinds)("does not grow for a chunk of %s with the text so far", (_name, make) => {
    const text = make(13_000);
    const chunkWork = (length: number): number => {
      const planner = createPlanner(options);
      planner.append(text.slice(0, length));
      planner.parts();
      let at = length;
      return leastWork(3, () => {
        for (let chunk = 0; chunk < 3; chunk += 1) {
          planner.append(text.slice(at, at + 16));
          planner.parts();
          at += 16;
        }
      });
    };
    chunkWork(1000);
    // An open block is read again up to a bound that a text of this length has reached.
    const reference = Math.max(chunkWork(2500), chunkWork(4000));
    for (const length of [7900, 12_000]) {
      expect(chunkWork(length)).toBeLessThan(reference * 4 + 15);
    }
  });

  it("splits a megabyte of prose in about a second", () => {
    const text = costlyTexts["prose"]?.(1_000_000) ?? "";
    split(text.slice(0, 100_000));
    const tenth = leastWork(2, () => split(text.slice(0, 100_000)));
    expect(leastWork(1, () => split(text))).toBeLessThan(Math.max(1000, tenth * 20));
  });
});
