import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Planner, splitText } from "../../../../delivery/text/split/index.ts";
import { telegramEntities } from "../../../../delivery/text/render/index.ts";
import { costlyTexts } from "../../../../lab/support/costly-texts.ts";
import { chunksOf, markdown } from "./arbitrary-markdown.ts";
import { telegramFaults } from "./telegram-faults.ts";

const limits = { maxLength: 4096, maxEntities: 100 };
const options = { renderer: telegramEntities, limits };
const kinds = Object.entries(costlyTexts);

describe("a long block that is still open", () => {
  it.each(kinds)("shows the same for %s, however the text is cut into chunks", (_name, make) => {
    const text = make(4700);
    const planner = new Planner(options);
    let sofar = "";
    for (const chunk of chunksOf(text, [1024, 1, 1047, 30, 500])) {
      planner.append(chunk);
      sofar += chunk;
      expect(planner.parts()).toEqual(splitText(sofar, { ...options, final: false }));
    }
  });

  it("shows the same for any text, wherever chunks end and whenever parts are requested", () => {
    const long = fc
      .tuple(
        fc.constantFrom("", "> ", "- ", "1. a\n\n   "),
        fc.array(markdown, { minLength: 4, maxLength: 8 }),
      )
      .map(([start, list]) => start + list.join(" ").replaceAll("\n\n", " ").repeat(3));
    fc.assert(
      fc.property(
        long,
        fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 6 }),
        (text, sizes) => {
          const planner = new Planner(options);
          let sofar = "";
          for (const chunk of chunksOf(text, sizes)) {
            planner.append(chunk);
            sofar += chunk;
            if (chunk.length % 2 === 0) planner.parts();
          }
          const parts = planner.parts();
          expect(parts).toEqual(splitText(sofar, { ...options, final: false }));
          for (const { content } of parts) expect(telegramFaults(content, limits)).toEqual([]);
        },
      ),
      { numRuns: 8 },
    );
  });

  it("does not take half of a line ending for a character of the line", () => {
    for (const length of [1023, 1024, 8191, 8192]) {
      const planner = new Planner(options);
      planner.append(`${"a b ".repeat(3000).slice(0, length)}\r`);
      planner.parts();
      planner.append("\nnext");
      expect(planner.parts()).toEqual(
        splitText(`${"a b ".repeat(3000).slice(0, length)}\r\nnext`, { ...options, final: false }),
      );
    }
  });
});
