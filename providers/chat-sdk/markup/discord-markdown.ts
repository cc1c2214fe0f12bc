import type { Markup, TextMark } from "../../../src/core/message/markup.ts";
import { atLineStarts } from "./escape-markdown.ts";
import { withoutNames } from "./without-mentions.ts";
import { languageOf, withoutFences } from "./markdown.ts";

const MARKERS = { bold: "**", italic: "*", strikethrough: "~~", code: "`" } as const;

/**
 * Discord's markdown. An address that is its own text is written bare, because Discord turns it into a link. Links
 * behind a text show no preview.
 */
export const discordMarkdown: Markup = {
  escape: (text, isLineStart) => {
    const escaped = text.split(ADDRESS).map(escapePart).join("");
    return atLineStarts(escaped, isLineStart, (lines) => lines.replace(LINE_START, "$1$3\\$2$4"));
  },
  escapeCode: withoutFences,
  escapesBackticks: true,
  canLink: (url) => /^https?:\/\//i.test(url) && !/[\s<>]/.test(url) && url.length <= 1000,
  open(mark: TextMark): string {
    if (mark.kind === "link") return mark.display === undefined ? "[" : "";
    if (mark.kind === "pre") return `\`\`\`${languageOf(mark.language)}\n`;
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
  close(mark: TextMark): string {
    if (mark.kind === "link") return mark.display === undefined ? `](<${mark.url}>)` : "";
    if (mark.kind === "pre") return "\n```";
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
  blocks: { headings: 3, tables: false, tasks: false, dividers: false },
};

const ADDRESS = /(https?:\/\/[^\s<>]+)/;
/** Headings, small text, quotes and lists. */
const LINE_START = /^([^\S\n]*)(?:(#{1,3}(?=\s)|-#?(?=\s)|>)|(\d+)(\.(?=\s)))/gm;

function escapePart(text: string, index: number): string {
  if (index % 2 === 1) return text;
  // The adapter writes `<@name>` for a bare `@name`, which Discord shows as it is.
  return withoutNames(text).replace(/[\\*~`|<[\]]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, "\\$&");
}
