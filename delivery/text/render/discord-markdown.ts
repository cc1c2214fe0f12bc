import type { Mark } from "../split/pack/piece.ts";
import { createMarkupRenderer } from "./markup.ts";
import { withoutMentions } from "./without-mentions.ts";

const ZERO_WIDTH_SPACE = "\u200b";
const MARKERS = { bold: "**", italic: "*", strikethrough: "~~", code: "`" } as const;

/** Writes Discord's markdown. An address that is its own text is written bare, because Discord turns it into a link. */
export const discordMarkdown = createMarkupRenderer({
  escape: (text) => text.split(ADDRESS).map(escapePart).join(""),
  escapeCode: (text) => text.replaceAll("`", `\`${ZERO_WIDTH_SPACE}`),
  escapesBackticks: true,
  canLink: (url) => /^https?:\/\//i.test(url) && !/[\s<>]/.test(url) && url.length <= 1000,
  open(mark: Mark): string {
    if (mark.kind === "link") return mark.display === undefined ? "[" : "";
    if (mark.kind === "pre") return `\`\`\`${languageOf(mark.language)}\n`;
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
  close(mark: Mark): string {
    if (mark.kind === "link") return mark.display === undefined ? `](<${mark.url}>)` : "";
    if (mark.kind === "pre") return "\n```";
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
});

const ADDRESS = /(https?:\/\/[^\s<>]+)/;
/** Headings, small text and lists. */
const LINE_START = /^([^\S\n]*)(#{1,3}|-#?)(?=\s)/gm;

/** Returns the language of a code block. Discord reads a single word in the first line as the language. */
export function languageOf(language: string | undefined): string {
  return language !== undefined && /^[\w+#-]+$/.test(language) ? language : "";
}

function escapePart(text: string): string {
  if (ADDRESS.test(text)) return text;
  return withoutMentions(text)
    .replace(/[\\*_~`|<>[\]]/g, "\\$&")
    .replace(LINE_START, "$1\\$2");
}
