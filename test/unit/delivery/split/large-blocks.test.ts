import { describe, expect, it } from "vitest";
import { Planner, splitText } from "../../../../delivery/text/split/index.ts";
import { telegramEntities } from "../../../../delivery/text/render/index.ts";
import { chunksOf } from "./arbitrary-markdown.ts";
import { hardDocuments } from "./corpus.ts";

const options = { renderer: telegramEntities, limits: { maxLength: 4096, maxEntities: 100 } };
const large = Object.entries(hardDocuments).filter(([, markdown]) => markdown.length > 15_000);

describe("blocks that are too large to be parsed again with every chunk", () => {
  it.each(large)(
    "gives the same parts for %s in any chunks, and changes no complete part",
    (_name, markdown) => {
      const whole = splitText(markdown, { ...options, final: true });
      for (const sizes of [[3001], [997, 13, 5000]]) {
        const planner = new Planner(options);
        for (const chunk of chunksOf(markdown, sizes)) {
          planner.append(chunk);
          const complete = planner.parts().filter((part) => part.complete);
          expect(complete).toEqual(whole.slice(0, complete.length));
        }
        planner.finish();
        expect(planner.parts()).toEqual(whole);
      }
    },
  );

  it.each([
    "| word ",
    "a [b](",
    "[a](",
    "![a",
    "[x](http",
    "<https://a",
    "a &#x",
    "**a *b ",
    "`a ``b ",
    "~~a \\",
    "a [b [c",
  ])("hides nothing where it cuts a line of %j", (unit) => {
    const text = unit.repeat(Math.ceil(20_000 / unit.length));
    const shown = splitText(text, { ...options, final: true }).map(({ content }) => content.text);
    expect(shown.join("").replace(/[^a-z]/g, "")).toBe(text.replace(/[^a-z]/g, ""));
  });

  it("shows text beyond the parsing limit as it was written, once", () => {
    const row = "| one | `two` <b> | *three* |\n";
    const text = `| a | b | c |\n|---|---|---|\n${row.repeat(20_000)}`;
    const shown = splitText(text, { ...options, final: true }).map(({ content }) => content.text);
    expect(shown.join("\n").match(/three/g)).toHaveLength(20_000);
    expect(shown.at(-1)).toMatch(/^(?:\| one \| `two` <b> \| \*three\* \|\n?)+$/);
    expect(shown.join("\n").match(/---/g)).toBeNull();
  });

  it("continues bold text over many parts", () => {
    const parts = splitText(`**${"b".repeat(20_000)}**`, { ...options, final: true });
    for (const { content } of parts) {
      expect(content.entities).toEqual([{ type: "bold", offset: 0, length: content.text.length }]);
    }
    expect(parts).toHaveLength(5);
  });

  it("opens code again with its language, in the list item that holds it", () => {
    const code = Array.from({ length: 1000 }, (_, line) => `     const line${line} = ${line};\n`).join("");
    const parts = splitText(`1. Look:\n\n   ~~~ts\n${code}   ~~~\n2. next`, { ...options, final: true });
    const languages = parts.map(({ content }) => content.entities.map(({ language }) => language));
    expect(new Set(languages.flat())).toEqual(new Set(["ts"]));
    expect(languages.every((list) => list.length > 0)).toBe(true);
    expect(parts.at(-1)?.content.text).toMatch(/\n2\. next$/);
  });

  it("counts on in an ordered list, whatever its items are numbered", () => {
    const items = Array.from({ length: 600 }, (_, item) => `1. Item ${item + 1}`).join("\n");
    const text = splitText(items, { ...options, final: true })
      .map(({ content }) => content.text)
      .join("\n");
    expect(text.split("\n")).toEqual(
      Array.from({ length: 600 }, (_, item) => `${item + 1}. Item ${item + 1}`),
    );
  });

  it("keeps a quote a quote in every part, with its depth", () => {
    const quote = `> outer\n>\n${"> > deep words in a quote\n".repeat(400)}`;
    for (const { content } of splitText(quote, { ...options, final: true })) {
      const quotes = content.entities.filter(({ type }) => type === "blockquote");
      expect(quotes.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(content.text.length - 3);
      expect(content.text.split("\n").filter((line) => !/^> deep|^outer$|^$/.test(line))).toEqual([]);
    }
  });

  it("shows every row of a table once, with its labels where it is wide", () => {
    const rows = Array.from({ length: 500 }, (_, row) => `| row ${row} | ${"wide cell ".repeat(5)}|\n`).join(
      "",
    );
    const parts = splitText(`| name | text |\n|---|---|\n${rows}`, { ...options, final: true });
    const lines = parts.flatMap(({ content }) => content.text.split("\n").filter((line) => line !== ""));
    const expected = Array.from({ length: 500 }, (_, row) => [
      `name: row ${row}`,
      `text: ${"wide cell ".repeat(5).trim()}`,
    ]);
    expect(lines).toEqual(expected.flat());
  });
});
