import { describe, expect, it } from "vitest";
import { richBlocks, splitText } from "../../../../delivery/split/index.ts";
import { costlyTexts } from "../../../support/costly-texts.ts";
import { leastWork, NOISE } from "../../../support/least-work.ts";

const options = { renderer: richBlocks, limits: { maxLength: 32_768, maxEntities: 500 }, final: true };

const repeated = (text: string) => (length: number) => text.repeat(Math.ceil(length / text.length));

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
    expect(leastWork(2, () => splitText(large, options))).toBeLessThan(
      leastWork(3, () => splitText(small, options)) * 8 + 40,
    );
  });
});
