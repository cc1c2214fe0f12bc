import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fullParse } from "../../../../delivery/text/split/parse/parse-markdown.ts";
import { parseSimple } from "../../../../delivery/text/split/parse/parse-simple.ts";
import { costlyTexts } from "../../../../lab/support/costly-texts.ts";
import { markdown } from "./arbitrary-markdown.ts";
import { corpus } from "./corpus.ts";
import { essence } from "./tree-essence.ts";

function differs(source: string): boolean {
  const simple = parseSimple(source);
  if (simple === undefined) return false;
  return (
    JSON.stringify(sorted(essence(simple))) !== JSON.stringify(sorted(essence(fullParse(source, new Map()))))
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** Pieces that are simple one by one, in any order. */
const fragment = fc.constantFrom(
  ..."a|word|W.|5|é|漢|👍|«|—|\u00a0|\u200d| | | |\n|\n |\n\n|*|**|***|_|__|`|~|:|://|http|www.|[|](https://e.com/x)|](|]|)|!|#|# |- |-|+ |1. |2) |> |>|||=|---|  \n|a*|*b|_c|d_|**e**|*f*|`g`|[h](https://i.j/k_l)|(|.|,|\"|'|$|5*3|{|}|^|;|?|%|/|\f|\v|\u2028|\u0001".split(
    "|",
  ),
  "|",
);
/** Lines that together are nearly a list or a table. */
const line = fc
  .tuple(
    fc.constantFrom("", "", "  ", "   ", "    ", "      ", " "),
    fc.constantFrom("- ", "- ", "* ", "1. ", "2) ", "10. ", "1.  ", "-    ", "| ", "|", ">", "> ", ""),
    fc.array(
      fragment.filter((text) => !text.includes("\n")),
      { minLength: 0, maxLength: 3 },
    ),
    fc.constantFrom("", "", " |", "|", " | b |", "---|", ":-: | -- |", "  "),
  )
  .map(([indent, marker, texts, end]) => indent + marker + texts.join("") + end);
const lines = fc.array(line, { minLength: 1, maxLength: 6 }).map((list) => list.join("\n"));
const cells = fc.array(fc.oneof(fragment, fc.constantFrom("---", ":--", ":-:", "a", "b")), {
  minLength: 2,
  maxLength: 8,
});
const tables = fc
  .tuple(fc.integer({ min: 1, max: 3 }), cells)
  .map(([columns, list]) =>
    list
      .map((cell, row) => `|${Array.from({ length: columns }, () => (row === 1 ? "-:" : cell)).join("|")}|`)
      .join("\n"),
  );
const fragments = fc.array(fragment, { minLength: 1, maxLength: 14 }).map((parts) => parts.join(""));

describe("the short way through the parser", () => {
  it("gives the tree of the whole parser for any text that it takes", () => {
    fc.assert(
      fc.property(fc.oneof(fragments, fragments, lines, tables), (source) => {
        expect(differs(source)).toBe(false);
      }),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(markdown, (source) => {
        const lines = source.split("\n").filter((line) => differs(line));
        expect(lines).toEqual([]);
        expect(differs(source)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it("gives the same for the examples of the specifications", () => {
    expect(corpus.filter((source) => source.length < 4000 && differs(source))).toEqual([]);
    const costly = Object.values(costlyTexts).map((make) => make(200));
    expect(costly.filter((source) => differs(source))).toEqual([]);
  });

  it.each([
    "Plain words, and a second sentence (with brackets)!",
    "Some **bold**, *italic* and `code`, snake_case and 5 * 3.\nA second line.",
    "See [the *docs*](https://example.com/a_b).",
    "## A heading",
    "- an item with **bold** text",
    "12. an item\n    that goes on",
    "> a quote\n> of two lines",
    "A heading\n---",
    "- an item\n  - nested\n    1. deeper\n    2. and `on`\n  - back",
    "| a | b |\n|---|:-:|\n| **c** | d |",
    "Costs: ~5 euros; time: 10:30 | done",
  ])("takes %s", (source) => {
    expect(parseSimple(source)).toBeDefined();
    expect(differs(source)).toBe(false);
  });
});
