import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Planner, splitText, type Renderer } from "../../../../delivery/text/split/index.ts";
import {
  plainText,
  rendererOf,
  richBlocks,
  telegramEntities,
} from "../../../../delivery/text/render/index.ts";
import { discordMarkdown } from "../../../../providers/chat-sdk/markup/discord-markdown.ts";
import { googleChatText } from "../../../../providers/chat-sdk/markup/google-chat.ts";
import { blockMarkdown, markdown } from "../../../../providers/chat-sdk/markup/markdown.ts";
import { slackMrkdwn } from "../../../../providers/chat-sdk/markup/slack-mrkdwn.ts";
import { whatsAppText } from "../../../../providers/chat-sdk/markup/whatsapp-text.ts";
import type { RichText } from "../../../../src/core/message/rich-text.ts";
import { chunksOf } from "./arbitrary-markdown.ts";

/**
 * Documents in which every word says what it is and how it is to look: `w7b` is the seventh and bold. `b` stands for
 * bold, `i` for italic, `s` for struck out, `c` for code, `p` for a code block in `ts`, `t` for a table, `l` for a link to
 * `/7`, `q` for a quote, `n12` for the first word of the twelfth item of a list, and `n0` for one with a bullet.
 */
const mark = (styles: string): string => `§${styles}§`;

const span = (styles: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(mark(styles)) },
    { weight: 1, arbitrary: fc.constant(`**${mark(`${styles}b`)} ${mark(`${styles}b`)}**`) },
    { weight: 1, arbitrary: fc.constant(`*${mark(`${styles}i`)}*`) },
    {
      weight: 1,
      arbitrary: fc.constant(`**${mark(`${styles}b`)} *${mark(`${styles}bi`)}* ${mark(`${styles}b`)}**`),
    },
    { weight: 1, arbitrary: fc.constant(`~~${mark(`${styles}s`)} ${mark(`${styles}s`)}~~`) },
    { weight: 1, arbitrary: fc.constant(`\`${mark(`${styles}c`)} ${mark(`${styles}c`)}\``) },
    { weight: 1, arbitrary: fc.constant(`[${mark(`${styles}l`)}](https://e.example/§url§)`) },
  );

const text = (styles: string): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(span(styles), fc.constantFrom(" ", " ", " ", ", ", ". ", "\n")), {
      minLength: 1,
      maxLength: 12,
    })
    .map((spans) =>
      spans
        .map(([words, gap]) => words + gap)
        .join("")
        .trimEnd(),
    );

const code = (styles: string): fc.Arbitrary<string> =>
  fc
    .array(
      fc.constantFrom(mark(`${styles}p`), `  ${mark(`${styles}p`)}(x)`, "", `${mark(`${styles}p`)} = *1*`),
      {
        minLength: 1,
        maxLength: 12,
      },
    )
    .map((lines) => ["```ts", ...lines, "```"].join("\n"));

/** Narrow enough to be aligned, so that no label is repeated. */
const table = fc
  .integer({ min: 0, max: 8 })
  .map((rows) =>
    ["| §t§ | §t§ |", "|---|--:|", ...Array.from({ length: rows }, () => "| §t§ | §t§ |")].join("\n"),
  );

function indented(block: string, by: string): string {
  return block.replaceAll(/\n(?=.)/g, `\n${by}`);
}

/** Two lists in a row would be one. */
function apart(blocks: readonly string[], styles: string): string {
  return blocks.join(`\n\n${mark(styles)}\n\n`);
}

function block(styles: string, depth: number): fc.Arbitrary<string> {
  const leaves: fc.MaybeWeightedArbitrary<string>[] = [
    { weight: 4, arbitrary: text(styles) },
    { weight: 2, arbitrary: code(styles) },
    { weight: 1, arbitrary: fc.constant(`## ${mark(`${styles}b`)} ${mark(`${styles}b`)}`) },
    { weight: 1, arbitrary: fc.constant("---") },
    ...(styles === "" ? [{ weight: 2, arbitrary: table }] : []),
  ];
  if (depth === 0) return fc.oneof(...leaves);
  const inner = (inside: string): fc.Arbitrary<string> =>
    fc
      .array(block(inside, depth - 1), { maxLength: 3 })
      .map((blocks) => (blocks.length === 0 ? "" : `\n\n${apart(blocks, inside)}`));
  const list = fc
    .tuple(
      fc.integer({ min: 1, max: 120 }),
      fc.array(fc.tuple(text(styles), inner(styles)), { minLength: 1, maxLength: 5 }),
      fc.constantFrom("\n", "\n\n"),
      fc.boolean(),
    )
    .map(([start, items, gap, isOrdered]) =>
      items
        .map(([words, rest], index) => {
          const marker = isOrdered ? `${start + index}. ` : "- ";
          const label = isOrdered ? mark(`${styles}n${start + index}`) : mark(`${styles}n0`);
          return marker + indented(`${label} ${words}${rest}`, " ".repeat(marker.length));
        })
        .join(gap),
    );
  const quote = fc
    .array(block(`${styles}q`, depth - 1), { minLength: 1, maxLength: 3 })
    .map((blocks) => `> ${apart(blocks, `${styles}q`).replaceAll("\n", "\n> ")}`);
  return fc.oneof(...leaves, { weight: 3, arbitrary: list }, { weight: 2, arbitrary: quote });
}

/** Numbers the words of the document. */
function numbered(source: string): string {
  let count = 0;
  return source.replaceAll(/§url§|§([^§]*)§/g, (_match, styles?: string) => {
    if (styles === undefined) return String(count);
    count += 1;
    return `w${count}${styles}z`;
  });
}

const documents = fc
  .array(block("", 2), { minLength: 1, maxLength: 6 })
  .map((blocks) => numbered(apart(blocks, "")));

const WORD = /w(\d+)([a-z]*?)(?:n(\d+))?z/g;

function numbersOf(content: string): number[] {
  return [...content.matchAll(WORD)].map(([, number]) => Number(number));
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function lastNumber(document: string): number {
  return numbersOf(document).at(-1) ?? 0;
}

const ENTITIES = {
  b: "bold",
  i: "italic",
  s: "strikethrough",
  c: "code",
  p: "pre",
  t: "pre",
  l: "text_link",
  q: "blockquote",
};

/** What is wrong with the formatting of the words of a part. */
function styleFaults({ text: shown, entities }: RichText): string[] {
  const faults: string[] = [];
  for (const match of shown.matchAll(WORD)) {
    const [word, number, styles = "", item] = match;
    const around = entities.filter(
      ({ offset, length }) => offset <= match.index && offset + length >= match.index + word.length,
    );
    const expected = new Set(
      Object.entries(ENTITIES).flatMap(([style, type]) => (styles.includes(style) ? type : [])),
    );
    // Code holds no other formatting on Telegram, but may stand in a quote.
    if (expected.has("code") || expected.has("pre"))
      for (const other of ["bold", "italic"]) expected.delete(other);
    const actual = new Set<string>(around.map(({ type }) => type));
    const [is, wanted] = [actual, expected].map((types) => [...types].toSorted().join());
    if (is !== wanted) faults.push(`${word} is ${is}, not ${wanted}`);
    const label = item === "0" ? /[•◦▪] $/ : new RegExp(`(?:^|\\s)${item ?? ""}\\. $`);
    if (item !== undefined && !label.test(shown.slice(0, match.index)))
      faults.push(`${word} is not item ${item}`);
    const link = around.find(({ type }) => type === "text_link");
    if (link !== undefined && link.url !== `https://e.example/${number}`)
      faults.push(`${word} leads to ${link.url}`);
    const pre = around.find(({ type }) => type === "pre");
    if (styles.includes("p") && pre?.language !== "ts") faults.push(`${word} is in ${pre?.language}`);
  }
  return faults;
}

const limits = fc.record({
  maxLength: fc.integer({ min: 60, max: 500 }),
  maxEntities: fc.integer({ min: 8, max: 40 }),
});

describe("the words of a document", () => {
  it("are shown once each, in their order and with their formatting, in parts of any size", () => {
    fc.assert(
      fc.property(documents, limits, (document, partLimits) => {
        const parts = splitText(document, { renderer: telegramEntities, limits: partLimits, final: true });
        expect(parts.flatMap(({ content }) => numbersOf(content.text))).toEqual(upTo(lastNumber(document)));
        expect(parts.flatMap(({ content }) => styleFaults(content))).toEqual([]);
      }),
      { numRuns: 80 },
    );
  });

  it.each<[string, Renderer<RichText>]>(
    Object.entries({
      slackMrkdwn: rendererOf(slackMrkdwn),
      discordMarkdown: rendererOf(discordMarkdown),
      whatsAppText: rendererOf(whatsAppText),
      googleChatText: rendererOf(googleChatText),
      plainText,
      markdown: rendererOf(markdown),
      richBlocks,
    }),
  )("are shown once each and in their order by %s", (_name, renderer) => {
    fc.assert(
      fc.property(documents, fc.integer({ min: 250, max: 700 }), (document, maxLength) => {
        const partLimits = { maxLength, maxEntities: 60 };
        const parts = splitText(document, { renderer, limits: partLimits, final: true });
        // An address that is written out holds only a number.
        expect(parts.flatMap(({ content }) => numbersOf(content.text))).toEqual(upTo(lastNumber(document)));
      }),
      { numRuns: 40 },
    );
  });

  it("are shown once each in Markdown with blocks, apart from the headers of tables that are cut", () => {
    fc.assert(
      fc.property(documents, fc.integer({ min: 400, max: 900 }), (document, maxLength) => {
        const renderer = rendererOf(blockMarkdown);
        const parts = splitText(document, {
          renderer,
          limits: { maxLength, maxEntities: Infinity },
          final: true,
        });
        const seen: number[] = [];
        for (const { content } of parts) {
          const before = seen.at(-1) ?? 0;
          const numbers = numbersOf(content.text);
          // A part that begins with the header of an earlier table has only old numbers until its first new one.
          const from = numbers.findIndex((number) => number > before);
          const old = numbers.slice(0, from === -1 ? numbers.length : from);
          if (old.length > 0) expect(content.text).toMatch(/\| (?:-|:)/);
          seen.push(...numbers.slice(old.length));
        }
        expect(seen).toEqual(upTo(lastNumber(document)));
      }),
      { numRuns: 60 },
    );
  });

  it("appear in their order while the document is written, and none twice", () => {
    fc.assert(
      fc.property(
        documents,
        limits,
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 6 }),
        (document, partLimits, sizes) => {
          const planner = new Planner({ renderer: telegramEntities, limits: partLimits });
          let sofar = "";
          for (const chunk of chunksOf(document, sizes)) {
            planner.append(chunk);
            sofar += chunk;
            const shown = planner.parts().flatMap(({ content }) => numbersOf(content.text));
            // The same as `expect(shown).toEqual(...)`, which takes most of the time when nothing is wrong.
            if (shown.some((number, index) => number !== index + 1))
              expect(shown).toEqual(upTo(shown.length));
            // Only what may yet become something else is held back: the last line, and the head of a table.
            const settled = sofar.split("\n").slice(0, -3).join("\n");
            if (shown.length < lastNumber(settled)) {
              expect(shown.length).toBeGreaterThanOrEqual(lastNumber(settled));
            }
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});
