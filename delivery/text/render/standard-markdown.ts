import type { Mark } from "../split/pack/piece.ts";
import { createMarkupRenderer } from "./markup.ts";
import { withoutMentions, withoutMentionsInCode } from "./without-mentions.ts";
import { languageOf } from "./discord-markdown.ts";

const ZERO_WIDTH_SPACE = "\u200b";
const MARKERS = { bold: "**", italic: "*", strikethrough: "~~", code: "`" } as const;

/**
 * Writes CommonMark with GFM's strikethrough, for adapters that translate it for their platform.
 * - Every line break is a hard one.
 * - Indentation is kept with spaces that do not turn a line into code.
 * - Inline code that contains a backtick is text, because the marker it needs is known only at its end.
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
/** Characters that have a meaning anywhere in a line. */
const SYNTAX = /[\\*_~`|<>[\]&]/g;
/** An exclamation mark before a link, which would turn it into an image. */
const BEFORE_LINK = /!(?=[^\S\n]*(?:\n|$))/g;
const LINE_START = /^([^\S\n]*)([#=+-]|:(?=-))/gm;
const LINE_BREAKS = /(\n+)( *)/g;

/** Escapes each character alone, so that two halves of a text are never longer than the whole. */
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
