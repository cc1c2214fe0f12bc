import { parseMarkdown, toPlainText } from "chat";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitText } from "../../../../delivery/text/split/index.ts";
import { plainText, rendererOf } from "../../../../delivery/text/render/index.ts";
import type { Renderer } from "../../../../delivery/text/split/index.ts";
import { adaptiveCardText } from "../../../../providers/chat-sdk/markup/adaptive-card.ts";
import { discordMarkdown as discordMarkup } from "../../../../providers/chat-sdk/markup/discord-markdown.ts";
import { googleChatCard, googleChatText } from "../../../../providers/chat-sdk/markup/google-chat.ts";
import {
  blockMarkdown,
  linearMarkdown,
  markdown as markdownMarkup,
} from "../../../../providers/chat-sdk/markup/markdown.ts";
import { slackMrkdwn as slackMarkup } from "../../../../providers/chat-sdk/markup/slack-mrkdwn.ts";
import { whatsAppText } from "../../../../providers/chat-sdk/markup/whatsapp-text.ts";
import type { LengthUnit } from "../../../../src/core/text/text-length.ts";
import { textLength } from "../../../../src/core/text/text-length.ts";
import type { RichText } from "../../../../src/core/message/rich-text.ts";
import { markdown } from "./arbitrary-markdown.ts";
import { corpus } from "./corpus.ts";

const formats = {
  adaptiveCardText,
  blockMarkdown,
  discordMarkup,
  googleChatCard,
  googleChatText,
  markdownMarkup,
  plain: "plain",
  slackMarkup,
  whatsAppText,
} as const;
const UNITS: readonly LengthUnit[] = ["utf16", "code-points", "utf8-bytes"];
const discordMarkdown = rendererOf(discordMarkup);
const slackMrkdwn = rendererOf(slackMarkup);
const standardMarkdown = rendererOf(markdownMarkup);
const whatsapp = rendererOf(whatsAppText);

function render(text: string, renderer: Renderer<RichText>): string {
  const limits = { maxLength: 4000, maxEntities: Infinity };
  return splitText(text, { renderer, limits, final: true })
    .map(({ content }) => content.text)
    .join("\n---\n");
}

describe("platforms with markup", () => {
  it.each(Object.entries(formats))(
    "keeps every part of %s within the limit, in the platform's unit",
    (_name, format) => {
      const property = fc.property(
        markdown,
        fc.integer({ min: 300, max: 700 }),
        fc.constantFrom(...UNITS),
        fc.boolean(),
        (text, maxLength, unit, final) => {
          const limits = { maxLength, unit, maxEntities: Infinity };
          for (const { content } of splitText(text, { renderer: rendererOf(format, unit), limits, final })) {
            expect(textLength(content.text, unit)).toBeLessThanOrEqual(maxLength);
            expect(content.text.isWellFormed() || !text.isWellFormed()).toBe(true);
          }
        },
      );
      fc.assert(property, { numRuns: 200 });
    },
  );

  it("counts the line breaks that inline code is cut at", () => {
    const maxLength = 361;
    const code = "- [x] 0. ```\n        if (x) {\n        if (x) {\n        if (x) {\n      ```\n";
    const link = "https://example.com/a_b?c=d";
    const text = `${code}  1. ~~**${link} ${link} alpha alpha end. alpha alpha Wort alpha 12345**~~\n  2. ${"a".repeat(110)}`;
    for (let length = 60; length <= maxLength; length += 1) {
      const limits = { maxLength: length, maxEntities: Infinity };
      for (const { content } of splitText(text, { renderer: standardMarkdown, limits, final: true }))
        expect(content.text.length).toBeLessThanOrEqual(length);
    }
  });

  const text =
    "**bold *it*\nline** & <x> [a **link**](https://e.com/x)\n\n> quote\n> > deep\n\n```ts\na`b\n```";

  it("writes Slack's mrkdwn", () => {
    expect(render(text, slackMrkdwn)).toBe(
      "*bold _it_*\n*line* &amp; &lt;x&gt; <https://e.com/x|a *link*>\n\n> quote\n\n> > deep\n\n```\na`\u200bb\n```",
    );
  });

  it("leaves nothing in a quoted text that Slack reads as a marker", () => {
    const name = "*Boss* (_x_) a_b *a_ `code` ~no~ 2 * 3";
    const shown = slackMarkup.escape(name, true);
    expect(shown).toBe("∗Boss∗ (ˍxˍ) a_b ∗aˍ ˋcodeˋ ∼no∼ 2 * 3");
    expect(slackMarkup.escape(shown, true)).toBe(shown);
  });

  it("writes the cards of Teams without signs that they show as they are", () => {
    const signs =
      "~~old~~ **new** *very* `code`\n\n---\n\n![the shop](https://e.com/p.png) [a link](https://e.com)";
    expect(render(signs, rendererOf(adaptiveCardText))).toBe(
      "old **new** *very* code\n\n──────────\n\n[the shop](https://e.com/p.png) [a link](https://e.com)",
    );
  });

  it("writes Discord's markdown", () => {
    expect(render(text, discordMarkdown)).toBe(
      "**bold *it***\n**line** & \\<x> [a **link**](<https://e.com/x>)\n\n> quote\n> \n> > deep\n\n```ts\na`b\n```",
    );
  });

  it("writes WhatsApp's formatting, with addresses in the text", () => {
    expect(render(text, whatsapp)).toBe(
      "*bold _it_*\n*line* & <x> a *link* (https://e.com/x)\n\n> quote\n\n> > deep\n\n```\na`\u200bb\n```",
    );
  });

  it("writes plain text without markers, except those of quotes", () => {
    expect(render(text, plainText)).toBe(
      "bold it\nline & <x> a link (https://e.com/x)\n\n> quote\n\n> > deep\n\na`b",
    );
  });

  it.each([
    ["Slack", slackMrkdwn],
    ["WhatsApp", whatsapp],
  ])("shows no raw marker inside of a word, where %s recognizes none", (_name, renderer) => {
    expect(render("te**bo**xt 这是**重要**的，*好*。 2**3**4 ~~a~~b", renderer)).toBe(
      "teboxt 这是重要的，_好_。 234 ab",
    );
    expect(render("**Bold**, (*it*) **a *b* c** **d**\n~~e~~f g*h*i **j**`k`", renderer)).toBe(
      "*Bold*, (_it_) *a _b_ c* *d*\nef ghi *j*`k`",
    );
  });

  it("writes inline code that holds a backtick as text, with every character", () => {
    const code = "Run `` echo `*date*` `` or `x`.";
    expect(render(code, standardMarkdown)).toBe("Run echo \\`\\*date\\*\\` or `x`.");
    expect(render(code, discordMarkdown)).toBe("Run echo \\`\\*date\\*\\` or `x`.");
  });

  it("writes standard markdown for adapters that read it", () => {
    const list = "1. a_b\n   - c\n\n5 * 3 = 15!\n# no";
    expect(render(`${text}\n\n${list}`, standardMarkdown)).toBe(
      "**bold *it***  \n**line** & \\<x> [a **link**](https://e.com/x)\n\n> quote\n\n> > deep\n\n" +
        "```ts\na`b\n```\n\n1. a_b  \n\u00a0\u00a0◦ c\n\n5 \\* 3 = 15!\n\n**no**",
    );
  });

  it("ends no block of code at the backticks in it", () => {
    const code = "````md\n```ts\nx\n```\n````";
    expect(render(code, standardMarkdown)).toBe("```md\n`\u200b``ts\nx\n`\u200b``\n```");
    expect(render(code, discordMarkdown)).toBe("```md\n`\u200b``ts\nx\n`\u200b``\n```");
    expect(render(code, rendererOf(blockMarkdown))).toBe(code);
  });

  it("writes lists with the signs of the platform", () => {
    const lists = "* one\n  * two\n    1. three\n    2. four\n* five\n\n  six";
    const shown = "- one\n    - two\n        1. three\n        2. four\n- five\n\n    six";
    expect(render(lists, rendererOf(googleChatText))).toBe(shown);
  });

  it("mentions nobody by name where names are mentions", () => {
    const names = "Ask @anna, (@octo-org/core) or @@bob, **@eve** and a@b.example, https://x.example/@carl.";
    const [block, linear] = [rendererOf(blockMarkdown), rendererOf(linearMarkdown)];
    expect(render(names, block)).toBe(
      "Ask @\u200banna, (@\u200bocto-org/core) or @@\u200bbob, **@\u200beve** and a@b.example, https://x.example/@carl.",
    );
    const profile = "https://linear.app/acme/profiles/anna";
    expect(render(`${profile} [Anna](${profile})`, block)).toBe(`${profile} [Anna](${profile})`);
    expect(render(`${profile} [Anna](${profile})`, linear)).not.toContain(profile);
    expect(render("`<users/all>`", rendererOf(googleChatText))).not.toContain("<users/all>");
  });

  it("mentions nobody on behalf of a text that only looks like a mention", () => {
    const mentions =
      "@everyone **@here** <!channel> <@U1> <@&2> <#C3> <!subteam^S4> `<!here>` [@everyone](https://e.com)";
    const read = toPlainText(parseMarkdown(render(mentions, standardMarkdown)));
    expect(read).not.toMatch(/@(?:everyone|here)|<[!@]/);
    expect(read.replaceAll("\u200b", "")).toBe(
      "@everyone @here <!channel> <@U1> <@&2> <#C3> <!subteam^S4> <!here> @everyone",
    );
    const shown = render(mentions.replace("`<!here>`", ""), discordMarkdown);
    expect(shown).not.toMatch(/@(?:everyone|here)|<[!@]/);
    expect(render("Ask @anna, or mail a@b.example.", standardMarkdown)).toBe(
      "Ask @anna, or mail a@b.example.",
    );
    expect(render("```html\n<!DOCTYPE html> <!-- x -->\n```", standardMarkdown)).toBe(
      "```html\n<!DOCTYPE html> <!-- x -->\n```",
    );
  });

  it("makes no heading, small text or list of lines that only look like one on Discord", () => {
    expect(render("\\## a\n\\-# b\n\\- c\n\\# d\n\\### e\n\\-#f", discordMarkdown)).toBe(
      "\\## a\n\\-# b\n\\- c\n\\# d\n\\### e\n-#f",
    );
  });

  it("loses no word of standard markdown on its way through the reader of the adapters", () => {
    const words = (shown: string): string =>
      shown.replace(/ \((?:https?|mailto|tel):[^)]*\)/g, "").replace(/[\s\u200b>]|\d+[.)]/g, "");
    // Addresses that hold a backtick or a backslash are nobody's.
    const texts = corpus.filter((source) => source.length < 4000 && !/https?:\S*[`\\]/.test(source));
    for (const source of texts) {
      const read = toPlainText(parseMarkdown(render(source, standardMarkdown)));
      expect(words(read)).toBe(words(render(source, plainText)));
    }
  });
});
