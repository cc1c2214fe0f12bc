import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Planner, splitText, type PartLimits } from "../../../../delivery/text/split/index.ts";
import { telegramEntities } from "../../../../delivery/text/render/index.ts";
import type { RichText } from "../../../../src/core/message/rich-text.ts";
import { chunksOf, markdown } from "./arbitrary-markdown.ts";
import { alignParts } from "./same-text.ts";
import { telegramFaults } from "./telegram-faults.ts";

const UNLIMITED: PartLimits = { maxLength: Infinity, maxEntities: Infinity };
const limits = fc.record({
  maxLength: fc.integer({ min: 40, max: 400 }),
  maxEntities: fc.integer({ min: 8, max: 20 }),
});
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

function split(text: string, partLimits: PartLimits, final = true): readonly RichText[] {
  return splitText(text, { renderer: telegramEntities, limits: partLimits, final }).map(
    ({ content }) => content,
  );
}

describe("the laws of splitting", () => {
  it("gives only parts that Telegram accepts", () => {
    fc.assert(
      fc.property(markdown, limits, fc.boolean(), (text, partLimits, final) => {
        for (const part of split(text, partLimits, final))
          expect(telegramFaults(part, partLimits)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it("loses nothing, doubles nothing, and keeps order and formatting", () => {
    fc.assert(
      fc.property(markdown, limits, (text, partLimits) => {
        const [whole = { text: "", entities: [] }] = split(text, UNLIMITED);
        expect(alignParts(whole, split(text, partLimits)).fault).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  }, 60_000);

  it("gives the same parts however the text is cut into chunks", () => {
    fc.assert(
      fc.property(markdown, limits, sizes, (text, partLimits, chunkSizes) => {
        const planner = new Planner({ renderer: telegramEntities, limits: partLimits });
        let sofar = "";
        for (const chunk of chunksOf(text, chunkSizes)) {
          planner.append(chunk);
          sofar += chunk;
        }
        expect(planner.parts()).toEqual(
          splitText(sofar, { renderer: telegramEntities, limits: partLimits, final: false }),
        );
        planner.finish();
        expect(planner.parts()).toEqual(
          splitText(text, { renderer: telegramEntities, limits: partLimits, final: true }),
        );
      }),
      { numRuns: 100 },
    );
  });

  it("never changes a complete part when text is appended", () => {
    fc.assert(
      fc.property(markdown, limits, sizes, (text, partLimits, chunkSizes) => {
        const planner = new Planner({ renderer: telegramEntities, limits: partLimits });
        const final = splitText(text, { renderer: telegramEntities, limits: partLimits, final: true });
        for (const chunk of chunksOf(text, chunkSizes)) {
          planner.append(chunk);
          const complete = planner.parts().filter((part) => part.complete);
          expect(complete).toEqual(final.slice(0, complete.length));
        }
      }),
      { numRuns: 40 },
    );
  });
});
