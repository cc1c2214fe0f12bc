import { describe, expect, it } from "vitest";
import { Planner, splitText, type PlannerOptions } from "../../../../delivery/text/split/index.ts";
import { richBlocks, telegramEntities } from "../../../../delivery/text/render/index.ts";
import type { Work } from "../../../../delivery/text/split/pack/meter.ts";
import type { RichText } from "../../../../src/core/message/rich-text.ts";
import { costlyTexts } from "../../../../lab/support/costly-texts.ts";

type Counts = Record<Work, number>;

const KINDS = ["scanned", "parsed", "skimmed", "placed", "rendered"] as const;
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
  const counts: Counts = { scanned: 0, parsed: 0, reused: 0, skimmed: 0, placed: 0, rendered: 0 };
  work({ ...options, meter: (kind, amount) => void (counts[kind] += amount) });
  return counts;
}

describe.each([
  ["text", asText],
  ["blocks", asBlocks],
] as const)("the work for %s", (_name, options) => {
  /** What one block and one line that are cut, and the part that is open, may cost once more. */
  const once: Omit<Counts, "reused"> = {
    scanned: 36_000,
    parsed: 28_000,
    skimmed: 20_000,
    placed: 2000,
    rendered: options.limits.maxLength * 2,
  };

  const nothing = (): Counts => ({ scanned: 0, parsed: 0, reused: 0, skimmed: 0, placed: 0, rendered: 0 });

  /** Counts the work for a text of this length, and apart from it that for each of some chunks before its end. */
  function grow(
    text: string,
    length: number,
  ): { readonly whole: Counts; readonly chunks: readonly Counts[] } {
    const whole = nothing();
    let counts = whole;
    const meter = (kind: Work, amount: number): void => void (counts[kind] += amount);
    const planner = new Planner({ ...options, meter });
    planner.append(text.slice(0, length));
    counts = nothing();
    planner.parts();
    const chunks: Counts[] = [];
    for (let at = length; at < length + 112; at += 16) {
      counts = nothing();
      planner.append(text.slice(at, at + 16));
      planner.parts();
      chunks.push(counts);
    }
    counts = whole;
    planner.finish();
    planner.parts();
    return { whole, chunks };
  }

  it.each(texts)(
    "grows in proportion to the length of %s, and not for a chunk with the text so far",
    (_text, make) => {
      const small = grow(make(4200), 4000);
      const large = grow(make(16_200), 16_000);
      const tooMuch = KINDS.filter((kind) => large.whole[kind] > small.whole[kind] * 4.8 + once[kind] * 2);
      expect(tooMuch.map((kind) => [kind, small.whole[kind], large.whole[kind]])).toEqual([]);
      for (const { chunks } of [small, large]) {
        const tooDear = chunks.flatMap((done) =>
          KINDS.filter((kind) => done[kind] > once[kind]).map((kind) => [kind, done[kind]]),
        );
        expect(tooDear).toEqual([]);
        // Now and then a chunk ends a block, which is then read as a whole; the others read what is open.
        const read = chunks.reduce((sum, { parsed, skimmed }) => sum + parsed + skimmed, 0);
        expect(read).toBeLessThan(7 * 9000);
      }
    },
  );
});

describe("a block with the same text", () => {
  it("is parsed once while it is open, and not again when it ends", () => {
    const text = "A ~~struck~~ word.";
    const { reused } = count(asText, (metered) => {
      const planner = new Planner(metered);
      planner.append(text);
      for (let request = 1; request <= 4; request += 1) planner.parts();
      planner.finish();
      expect(planner.parts().map(({ content }) => content.text)).toEqual(["A struck word."]);
    });
    expect(reused).toBe(4 * text.length);
  });

  it("is parsed again after a definition of what it refers to", () => {
    const text = "See ~~[a]~~.\n\n[a]: https://example.com/\n\nSee ~~[a]~~.\n\nEnd.";
    const [part] = splitText(text, { ...asText, final: true });
    const links = part?.content.entities.filter(({ type }) => type === "text_link");
    expect(links?.map(({ offset }) => offset)).toEqual([part?.content.text.lastIndexOf("a.")]);
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
