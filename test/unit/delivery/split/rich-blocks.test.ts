import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Planner, splitText, type PartLimits, type Renderer } from "../../../../delivery/text/split/index.ts";
import {
  plainText,
  richBlocks,
  richWhereItShows,
  telegramEntities,
} from "../../../../delivery/text/render/index.ts";
import type { InlineText, MessageBlock } from "../../../../src/core/message/message-block.ts";
import type { RichText } from "../../../../src/core/message/rich-text.ts";
import { chunksOf, markdown, separatedMarkdown } from "./arbitrary-markdown.ts";
import { corpus, gfmExamples, hardDocuments } from "./corpus.ts";
import { countBlocks, richFaults, stringsOf } from "../../../support/rich-faults.ts";

const TELEGRAM: PartLimits = { maxLength: 32_768, maxEntities: 500 };
const UNLIMITED: PartLimits = { maxLength: Infinity, maxEntities: Infinity };
const limits = fc.record({
  maxLength: fc.integer({ min: 100, max: 600 }),
  maxEntities: fc.integer({ min: 24, max: 60 }),
});
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

function split(text: string, partLimits = TELEGRAM, final = true): readonly RichText[] {
  return splitText(text, { renderer: richBlocks, limits: partLimits, final }).map(({ content }) => content);
}

function blocksOf(text: string, final = true): readonly MessageBlock[] {
  return split(text, UNLIMITED, final)[0]?.blocks ?? [];
}

const NOTHING = /[\s\p{Default_Ignorable_Code_Point}\p{Control}]/gu;

/** All words of the messages, without the space between them. */
function words(contents: readonly RichText[]): string {
  return stringsOf(contents.flatMap(({ blocks = [] }) => blocks))
    .join("")
    .replace(NOTHING, "");
}

/** Short: `**bold**`, blocks by their tags. */
function short(blocks: readonly MessageBlock[]): unknown[] {
  return blocks.map((block) => {
    switch (block.type) {
      case "paragraph":
        return inline(block.text);
      case "heading":
        return { [`h${block.level}`]: inline(block.text) };
      case "code":
        return { [`code ${block.language ?? ""}`.trim()]: block.text };
      case "formula":
        return { formula: block.expression };
      case "divider":
        return "---";
      case "quote":
        return { quote: short(block.blocks) };
      case "list":
        return {
          list: block.items.map(({ number, isChecked, blocks: inner }) => [
            number ?? "•",
            ...(isChecked === undefined ? [] : [isChecked]),
            ...short(inner),
          ]),
        };
      case "table":
        return {
          table: block.rows.map((row) =>
            row.map(({ isHeader, align, text }) => `${isHeader ? "!" : ""}${align[0]}:${inline(text)}`),
          ),
        };
      default:
        return block satisfies never;
    }
  });
}

function inline(text: readonly InlineText[]): string {
  return text
    .map((run) => {
      if (typeof run === "string") return run;
      if (run.type === "formula") return `<formula>${run.expression}</formula>`;
      const name = run.type === "link" ? `link ${run.url}` : run.type;
      return `<${name}>${inline(run.text)}</${run.type}>`;
    })
    .join("");
}

describe("rich messages", () => {
  it.each<[string, string, unknown[]]>([
    ["headings", "# One\n\n### Three\ntext", [{ h1: "One" }, { h3: "Three" }, "text"]],
    [
      "formatted text",
      "**a *b*** `c` ~~d~~ [e](https://e.com/x)",
      [
        "<bold>a <italic>b</italic></bold> <code>c</code> <strikethrough>d</strikethrough> <link https://e.com/x>e</link>",
      ],
    ],
    [
      "an address that Telegram would refuse",
      "[here](http://localhost:3000/x)",
      ["here (http://localhost:3000/x)"],
    ],
    [
      "nested lists",
      "- one\n  - two\n    1. three\n    2. four\n- five",
      [
        {
          list: [
            [
              "•",
              "one",
              {
                list: [
                  [
                    "•",
                    "two",
                    {
                      list: [
                        [1, "three"],
                        [2, "four"],
                      ],
                    },
                  ],
                ],
              },
            ],
            ["•", "five"],
          ],
        },
      ],
    ],
    [
      "tasks",
      "- [x] done\n- [ ] open",
      [
        {
          list: [
            ["•", true, "done"],
            ["•", false, "open"],
          ],
        },
      ],
    ],
    ["an answer that looks like a list", "42.", ["42."]],
    [
      "an empty item among others",
      "- a\n  1. b\n  2.\n  3. c",
      [
        {
          list: [
            [
              "•",
              "a",
              {
                list: [
                  [1, "b"],
                  [2, ""],
                  [3, "c"],
                ],
              },
            ],
          ],
        },
      ],
    ],
    [
      "numbers that go on",
      "7. a\n\n   more\n8. b",
      [
        {
          list: [
            [7, "a", "more"],
            [8, "b"],
          ],
        },
      ],
    ],
    ["quotes in quotes", "> a\n>\n> > b\n\nc", [{ quote: ["a", { quote: ["b"] }] }, "c"]],
    [
      "tables",
      "| a | b | c |\n|:--|--:|:-:|\n| 1 | **2** |\n|   |   | 3 |",
      [
        {
          table: [
            ["!l:a", "!r:b", "!c:c"],
            ["l:1", "r:<bold>2</bold>", "c:"],
            ["l:", "r:", "c:3"],
          ],
        },
      ],
    ],
    ["code", "```ts\nlet a;\n\n  b\n```", [{ "code ts": "let a;\n\n  b" }]],
    [
      "formulas",
      "Say $x_1*y$ and \\(z\\), for $5 or \\$6\\$.\n\n$$\n\\frac{a}{b}\n$$\n\n\\[ \\sum_i c_i \\]",
      [
        "Say <formula>x_1*y</formula> and <formula>z</formula>, for $5 or $6$.",
        { formula: "\\frac{a}{b}" },
        { formula: "\\sum_i c_i" },
      ],
    ],
    ["rules", "a\n\n---\n\nb", ["a", "---", "b"]],
    ["lines of a paragraph", "a\nb\\\nc", ["a\nb\nc"]],
    ["HTML as it stands there", "<div>\nx\n</div>", ["<div>\nx\n</div>"]],
    ["a footnote", "a[^1]\n\n[^1]: *note*", ["a[^1]", "[^1]: <italic>note</italic>"]],
  ])("have %s", (_name, text, expected) => {
    expect(short(blocksOf(text))).toEqual(expected);
  });

  it("show in plain text what only blocks can show", () => {
    expect(split("# A\n\n- b\n- [x] c\n\n| d | e |\n|---|---|\n| 1 | 2 |\n\n> f")[0]?.text).toBe(
      "A\n\n• b\n☑ c\n\nd │ e\n1 │ 2\n\n> f",
    );
  });

  it.each([
    ["an open bold run", "some **bold te", ["some <bold>bold te</bold>"]],
    ["half of a task", "- [x] done\n- [", [{ list: [["•", true, "done"]] }]],
    ["the header of a table", "text\n\n| a | b |\n", ["text"]],
    ["half of a row", "| a | b |\n|---|---|\n| 1 |", [{ table: [["!l:a", "!l:b"]] }]],
    ["a fence that is open", "```py\nprint(1", [{ "code py": "print(1" }]],
    ["an open formula", "so $x_1", ["so $x_1"]],
  ])("show %s repaired while the text grows", (_name, text, expected) => {
    expect(short(blocksOf(text, false))).toEqual(expected);
  });

  it("show levels that are too deep for Telegram as text, and lose nothing", () => {
    const text = Array.from({ length: 12 }, (_, depth) => `${"  ".repeat(depth)}- level ${depth}`).join("\n");
    const quotes = `${"> ".repeat(30)}deep`;
    for (const content of split(`${text}\n\n${quotes}`)) {
      expect(richFaults(content.blocks ?? [], TELEGRAM)).toEqual([]);
    }
    expect(words(split(text)).replaceAll(/[•◦▪]/g, "")).toBe(
      Array.from({ length: 12 }, (_, depth) => `level${depth}`).join(""),
    );
    expect(words(split(quotes))).toContain("deep");
  });

  it("show a table that is too wide as rows of text", () => {
    const cells = Array.from({ length: 21 }, (_, column) => `c${column}`);
    const text = `|${cells.join("|")}|\n|${"-|".repeat(21)}\n|${cells.map((cell) => `v${cell}`).join("|")}|`;
    const [block, ...rest] = blocksOf(text);
    expect(rest).toEqual([]);
    expect(block?.type).toBe("paragraph");
    for (const cell of cells)
      expect(stringsOf([block ?? { type: "divider" }]).join("")).toContain(`${cell}: v${cell}`);
  });
});

describe("the laws of rich messages", () => {
  it("give only messages that Telegram accepts", () => {
    fc.assert(
      fc.property(markdown, limits, fc.boolean(), (text, partLimits, final) => {
        for (const { blocks = [] } of split(text, partLimits, final))
          expect(richFaults(blocks, partLimits)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  it("lose nothing, double nothing and keep order", () => {
    fc.assert(
      fc.property(markdown, limits, (text, partLimits) => {
        expect(words(split(text, partLimits))).toBe(words(split(text, UNLIMITED)));
      }),
      { numRuns: 150 },
    );
  });

  it("say the same as an ordinary message", () => {
    const isComparable = (text: string): boolean => !/^[ >\-\d.)+*\t]*\|.*(?:\]\(|\[|http|www|@)/m.test(text);
    fc.assert(
      fc.property(separatedMarkdown, (text) => {
        fc.pre(isComparable(text));
        expect(sameLetters(split(text, UNLIMITED))).toBe(sameLetters(ordinary(text)));
      }),
      { numRuns: 120 },
    );
    for (const text of [...corpus, ...gfmExamples].filter(isComparable))
      expect(sameLetters(split(text, UNLIMITED))).toBe(sameLetters(ordinary(text)));
  });

  it("give the same parts however the text is cut into chunks, and never change a complete one", () => {
    fc.assert(
      fc.property(markdown, limits, sizes, (text, partLimits, chunkSizes) => {
        const options = { renderer: richBlocks, limits: partLimits };
        const final = splitText(text, { ...options, final: true });
        const planner = new Planner(options);
        for (const chunk of chunksOf(text, chunkSizes)) {
          planner.append(chunk);
          const complete = planner.parts().filter((part) => part.complete);
          expect(complete).toEqual(final.slice(0, complete.length));
        }
        expect(planner.parts()).toEqual(splitText(text, { ...options, final: false }));
        planner.finish();
        expect(planner.parts()).toEqual(final);
      }),
      { numRuns: 20 },
    );
  });

  it.each(Object.entries(hardDocuments))("hold for %s", (_name, text) => {
    const parts = split(text);
    expect(words(parts)).toBe(words(split(text, UNLIMITED)));
    for (const { blocks = [] } of parts) expect(richFaults(blocks, TELEGRAM)).toEqual([]);
  });
});

describe("blocks larger than what is read at once", () => {
  const partsOf = (name: string): readonly (readonly MessageBlock[])[] =>
    split(hardDocuments[name] ?? "").map(({ blocks = [] }) => blocks);

  it("keep one table a table, with its head once", () => {
    const parts = partsOf("a long narrow table");
    expect(parts.map((blocks) => blocks.map(({ type }) => type))).toEqual(parts.map(() => ["table"]));
    const rows = parts.flat().flatMap((block) => (block.type === "table" ? block.rows : []));
    expect(rows.length).toBe(1501);
    expect(rows.filter((row) => row.some(({ isHeader }) => isHeader)).length).toBe(1);
  });

  it("keep the numbers of a list", () => {
    const parts = partsOf("a long list");
    const items = parts.flat().flatMap((block) => (block.type === "list" ? block.items : []));
    expect(items.map(({ number }) => number)).toEqual(Array.from({ length: 700 }, (_, index) => index + 1));
    expect(parts.every((blocks) => blocks.length === 1)).toBe(true);
  });

  it("keep an item in its list", () => {
    const parts = partsOf("one list item of 40,000 characters");
    expect(parts.every((blocks) => blocks.length === 1 && blocks[0]?.type === "list")).toBe(true);
    const numbers = parts.flat().flatMap((block) => (block.type === "list" ? block.items : []));
    expect(new Set(numbers.map(({ number }) => number))).toEqual(new Set([7, 8]));
  });

  it("keep the lines of a paragraph, a quote and code in one block each", () => {
    for (const blocks of partsOf("a paragraph of 40,000 characters")) expect(countBlocks(blocks)).toBe(1);
    for (const blocks of partsOf("long code inside a list"))
      expect(blocks.map(({ type }) => type)).toEqual(["list"]);
    for (const blocks of partsOf("a long quote")) expect(blocks.map(({ type }) => type)).toEqual(["quote"]);
    for (const blocks of partsOf("a quote of one paragraph")) expect(countBlocks(blocks)).toBe(2);
    for (const blocks of partsOf("one long line of code")) expect(countBlocks(blocks)).toBe(1);
  });
});

function ordinary(text: string): readonly RichText[] {
  const renderer: Renderer<RichText> = { ...plainText, canLink: (url) => richBlocks.canLink(url) };
  return splitText(text, { renderer, limits: UNLIMITED, tableWidth: Infinity, final: true }).map(
    ({ content }) => content,
  );
}

/** What is left without the signs of lists, tables, rules, quotes and formulas. */
function sameLetters(contents: readonly RichText[]): string {
  return contents
    .map(({ text }) => text.replace(NOTHING, "").replaceAll(/[•◦▪│─┼⸻>$\\()[\]]/gu, ""))
    .join("");
}

describe("rich messages only if they show more", () => {
  const limits = { maxLength: 4_000, maxEntities: 100 };
  const renderer = richWhereItShows(telegramEntities, limits);
  const shown = (text: string): RichText | undefined =>
    splitText(text, { renderer, limits: TELEGRAM, final: true })[0]?.content;

  it.each([
    "Yes.",
    "Some **bold** and `code`,\nwith [a link](https://example.org).\n\nAnd a second paragraph.",
    "Try this:\n\n```ts\nlet a;\n\n  b\n```",
    "42.",
    "<b>no markup</b>",
  ])("are ordinary ones, word for word, for %j", (text) => {
    const [ordinary] = splitText(text, { renderer: telegramEntities, limits, final: true });
    expect(shown(text)).toEqual(ordinary?.content);
    expect(shown(text)?.blocks).toBeUndefined();
  });

  it.each([
    ["a heading", "# Yes"],
    ["a list", "- yes"],
    ["a quote", "> yes"],
    ["a table", "| a |\n|---|\n| 1 |"],
    ["a formula", "It is $x^2$."],
    ["a rule", "a\n\n---\n\nb"],
    ["more text than an ordinary message holds", "word ".repeat(1_000)],
    ["more formatting than an ordinary message holds", "*a* b ".repeat(101)],
  ])("are rich with %s", (_name, text) => {
    expect(shown(text)?.blocks).toBeDefined();
  });

  it("say the same in both forms", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const parts = splitText(text, { renderer, limits: TELEGRAM, final: true });
        const whole = split(text)
          .map((content) => content.text.replace(NOTHING, ""))
          .join("");
        expect(parts.map(({ content }) => content.text.replace(NOTHING, "")).join("")).toBe(whole);
      }),
      { numRuns: 100 },
    );
  });
});
