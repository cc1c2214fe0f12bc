import fc from "fast-check";
import type { MessageEntity } from "grammy/types";
import { describe, expect, it } from "vitest";
import { checkLink } from "../../../playground/telegram/bot-api/format/check-link.ts";
import { fixFormattedText } from "../../../playground/telegram/bot-api/format/formatted-text.ts";
import { parseHtml } from "../../../playground/telegram/bot-api/format/parse-html.ts";
import { parseMarkdown } from "../../../playground/telegram/bot-api/format/parse-markdown.ts";
import { parseMarkdownV2 } from "../../../playground/telegram/bot-api/format/parse-markdown-v2.ts";

const bold = (offset: number, length: number): MessageEntity => ({ type: "bold", offset, length });

describe("fixFormattedText", () => {
  it("cuts outer whitespace and moves the entities", () => {
    expect(fixFormattedText("  \n Hello \n", [bold(4, 5)])).toEqual({
      text: "Hello",
      entities: [bold(0, 5)],
    });
  });

  it("keeps leading whitespace that an entity covers", () => {
    expect(fixFormattedText("  x", [bold(0, 3)])).toEqual({ text: "  x", entities: [bold(0, 3)] });
  });

  it("refuses entities outside of the text and inside of a surrogate pair", () => {
    expect(() => fixFormattedText("abc", [bold(4, 1)])).toThrow(
      "Bad Request: entity begins after the end of the text at UTF-16 offset 4",
    );
    expect(() => fixFormattedText("abc", [bold(1, 5)])).toThrow(
      "Bad Request: entity beginning at UTF-16 offset 1 ends after the end of the text at UTF-16 offset 6",
    );
    expect(() => fixFormattedText("a😀b", [bold(2, 2)])).toThrow(
      "Bad Request: entity begins in a middle of a UTF-16 symbol at byte offset",
    );
  });

  it("keeps the first hundred entities", () => {
    const entities = Array.from({ length: 120 }, (_, index) => bold(index * 2, 1));
    expect(fixFormattedText("a ".repeat(120), entities).entities).toHaveLength(100);
  });

  it("drops emphasis inside of code and quotes inside of quotes", () => {
    const { entities } = fixFormattedText("one two three", [
      { type: "blockquote", offset: 0, length: 13 },
      { type: "blockquote", offset: 4, length: 3 },
      { type: "code", offset: 4, length: 3 },
      bold(0, 13),
    ]);
    expect(entities).toEqual([
      { type: "blockquote", offset: 0, length: 13 },
      bold(0, 4),
      { type: "code", offset: 4, length: 3 },
      bold(7, 6),
    ]);
  });

  it("finds commands, mentions, links and addresses", () => {
    const { text, entities } = fixFormattedText(
      "/start@my_bot write to @alice_1 or bob@example.com, see https://example.com/a?b=1. or example.org #now",
      [],
    );
    expect(entities.map(({ type, offset, length }) => [type, text.slice(offset, offset + length)])).toEqual([
      ["bot_command", "/start@my_bot"],
      ["mention", "@alice_1"],
      ["email", "bob@example.com"],
      ["url", "https://example.com/a?b=1"],
      ["url", "example.org"],
      ["hashtag", "#now"],
    ]);
  });

  it("never yields crossing or nested-in-code entities, whatever is given", () => {
    const type = fc.constantFrom("bold", "italic", "code", "pre", "blockquote", "spoiler", "underline");
    const entity = fc.record({ type, offset: fc.nat(30), length: fc.nat(30) });
    fc.assert(
      fc.property(fc.array(entity, { maxLength: 12 }), (given) => {
        const text = "abcdefghij".repeat(7);
        const { entities } = fixFormattedText(text, given);
        for (const [index, one] of entities.entries()) {
          for (const other of entities.slice(index + 1)) {
            const oneEnd = one.offset + one.length;
            const otherEnd = other.offset + other.length;
            const isApart = other.offset >= oneEnd;
            const isInside = other.offset >= one.offset && otherEnd <= oneEnd;
            expect(isApart || isInside).toBe(true);
            const hasCode = one.type === "code" || one.type === "pre";
            expect(hasCode && !isApart).toBe(false);
          }
        }
        expect(fixFormattedText(text, entities).entities).toEqual(entities);
      }),
    );
  });
});

describe("parseMarkdownV2", () => {
  it("reads nested marks, code with a language, links and quotes", () => {
    expect(parseMarkdownV2("*b _i_* `c` ||s||")).toEqual({
      text: "b i c s",
      entities: [
        { type: "italic", offset: 2, length: 1 },
        { type: "bold", offset: 0, length: 3 },
        { type: "code", offset: 4, length: 1 },
        { type: "spoiler", offset: 6, length: 1 },
      ],
    });
    expect(parseMarkdownV2("```js\nlet a\\`\n```").entities).toEqual([
      { type: "pre", offset: 0, length: 7, language: "js" },
    ]);
    expect(parseMarkdownV2("[a](https://example.com/x)").entities).toEqual([
      { type: "text_link", offset: 0, length: 1, url: "https://example.com/x" },
    ]);
    expect(parseMarkdownV2(">one\n>two\nthree")).toEqual({
      text: "one\ntwo\nthree",
      entities: [{ type: "blockquote", offset: 0, length: 7 }],
    });
    expect(parseMarkdownV2(">one\n>two||").entities).toEqual([
      { type: "expandable_blockquote", offset: 0, length: 7 },
    ]);
  });

  it.each([
    ["Hello.", "Character '.' is reserved and must be escaped with the preceding '\\'"],
    ["a *b", "Can't find end of Bold entity at byte offset 2"],
    ["é _x", "Can't find end of Italic entity at byte offset 3"],
    ["```js\nx", "Can't find end of PreCode entity at byte offset 0"],
    ["[a](http://x", "Can't find end of a URL at byte offset 4"],
  ])("refuses %j", (source, reason) => {
    expect(() => parseMarkdownV2(source)).toThrow(`Bad Request: can't parse entities: ${reason}`);
  });
});

describe("parseHtml", () => {
  it("reads tags, references and code in pre", () => {
    expect(parseHtml('<b>a &lt; b</b> <pre><code class="language-py">x</code></pre>')).toEqual({
      text: "a < b x",
      entities: [
        { type: "bold", offset: 0, length: 5 },
        { type: "pre", offset: 6, length: 1, language: "py" },
      ],
    });
  });

  it.each([
    ["<h1>x</h1>", 'Unsupported start tag "h1" at byte offset 0'],
    ["<b>x", 'Can\'t find end tag corresponding to start tag "b"'],
    ["<b><i>x</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
    ["x</b>", "Unexpected end tag at byte offset 1"],
    ['<span class="x">a</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
  ])("refuses %j", (source, reason) => {
    expect(() => parseHtml(source)).toThrow(`Bad Request: can't parse entities: ${reason}`);
  });
});

describe("checkLink", () => {
  it.each([
    ["https://Example.com/A?b=c#d", "https://example.com/A?b=c#d"],
    ["example.org", "http://example.org/"],
    ["http://example.com:8080/a b", "http://example.com:8080/a%20b"],
    ["tg://resolve?domain=x", "tg://resolve?domain=x"],
    ["http://[::1]/x", "http://[::1]/x"],
  ])("takes %s", (target, url) => {
    expect(checkLink(target)).toEqual({ url });
  });

  it.each([
    ["docs/guide.md", "Wrong HTTP URL"],
    ["#section", "URL host is empty"],
    ["javascript:alert(1)", "Wrong port number specified in the URL"],
    ["ftp://example.com", "Unsupported URL protocol"],
    ["http://localhost:3000/", "Wrong HTTP URL"],
    ["http://exa mple.com", "Disallowed character in URL host"],
    ["", "URL host is empty"],
  ])("finds fault with %s", (target, problem) => {
    expect(checkLink(target)).toEqual({ problem });
  });
});

describe("parseMarkdown", () => {
  it("reads the legacy marks and refuses an open one", () => {
    expect(parseMarkdown("*a* _b_ `c` \\_d")).toEqual({
      text: "a b c _d",
      entities: [
        { type: "bold", offset: 0, length: 1 },
        { type: "italic", offset: 2, length: 1 },
        { type: "code", offset: 4, length: 1 },
      ],
    });
    expect(() => parseMarkdown("a_b")).toThrow(
      "Bad Request: can't parse entities: Can't find end of the entity starting at byte offset 1",
    );
  });
});
