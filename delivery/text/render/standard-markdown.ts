import type { Mark } from "../split/pack/piece.ts";
import { createMarkupRenderer } from "./markup.ts";
import { withoutMentions, withoutMentionsInCode } from "./without-mentions.ts";

const ZERO_WIDTH_SPACE = "\u200b";
const MARKERS = { bold: "**", italic: "*", strikethrough: "~~", code: "`" } as const;

/**
 * CommonMark with GFM's strikethrough, for platforms whose adapter reads it and writes it in its own way. Every line
 * break is a hard one, and indentation is kept by spaces that do not make code of a line. Inline code that holds a
 * backtick is text: there is no telling how long a marker it needs before all of it was seen.
 */
export const standardMarkdown = createMarkupRenderer({
  escape,
  escapeCode: (text) => withoutMentionsInCode(text).replaceAll("`", `\`${ZERO_WIDTH_SPACE}`),
  escapesBackticks: true,
  canLink: (url) => /^(?:https?|mailto|tel):/i.test(url) && !/[\s<>\\`]/.test(url) && url.length <= 2000,
  open(mark: Mark): string {
    if (mark.kind === "link") return "[";
    if (mark.kind === "pre") return `\`\`\`${languageOf(mark.language)}\n`;
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
  close(mark: Mark): string {
    if (mark.kind === "link") return `](<${mark.url}>)`;
    if (mark.kind === "pre") return "\n```";
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
});

const ADDRESS = /((?:https?:\/\/|www\.)[^\s<>`\\]+)/;
/** Characters that mean something wherever they stand. */
const SYNTAX = /[\\*_~`|<>[\]&]/g;
/** An exclamation mark that may stand before a link would make an image of it. */
const BEFORE_LINK = /!(?=[^\S\n]*(?:\n|$))/g;
const LINE_START = /^([^\S\n]*)([#=+-]|:(?=-))/gm;
const LINE_BREAKS = /(\n+)( *)/g;

/** Adds to each character by itself, so that halves of a text are never longer than the whole. */
function escape(text: string): string {
  return text.split(ADDRESS).map(escapePart).join("").replace(LINE_BREAKS, keepLayout);
}

function escapePart(text: string): string {
  if (ADDRESS.test(text)) return text.replace(/[[\]]/g, "\\$&");
  return withoutMentions(text)
    .replace(SYNTAX, "\\$&")
    .replace(BEFORE_LINK, "\\!")
    .replace(LINE_START, "$1\\$2");
}

function keepLayout(_match: string, breaks: string, spaces: string): string {
  return (breaks.length === 1 ? "  \n" : breaks) + "\u00a0".repeat(spaces.length);
}

function languageOf(language: string | undefined): string {
  return language !== undefined && /^[\w+#-]+$/.test(language) ? language : "";
}
