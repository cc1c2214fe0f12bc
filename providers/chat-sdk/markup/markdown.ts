import type { Markup, TextMark } from "../../../src/core/message/markup.ts";
import { escapeMarkdown, escapeNumbers } from "./escape-markdown.ts";
import { withoutMentionsInCode, withoutNames } from "./without-mentions.ts";

const MARKERS = { bold: "**", italic: "*", strikethrough: "~~", code: "`" } as const;

/**
 * CommonMark with GFM's strikethrough, for adapters that translate it. Blocks are text that looks like them.
 * - Every line break is a hard one.
 * - Indentation is kept with spaces that do not turn a line into code.
 * - Inline code that contains a backtick is text, because the marker it needs is known only at its end.
 */
export const markdown: Markup = {
  escape: (text, isLineStart) => withLayout(escapeMarkdown(text, isLineStart)),
  escapeCode: (text) => withoutFences(withoutMentionsInCode(text)),
  escapesBackticks: true,
  canLink: (url) => /^(?:https?|mailto|tel):/i.test(url) && !/[\s<>\\`]/.test(url) && url.length <= 2000,
  open(mark: TextMark): string {
    if (mark.kind === "link") return "[";
    if (mark.kind === "pre") return `\`\`\`${languageOf(mark.language)}\n`;
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
  close(mark: TextMark): string {
    if (mark.kind === "link") return `](${mark.url.replaceAll("(", "%28").replaceAll(")", "%29")})`;
    if (mark.kind === "pre") return "\n```";
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
};

/** Markdown as people write it, in which a bare address is a link. */
export const plainMarkdown: Markup = {
  ...markdown,
  open: (mark) => (isBare(mark) ? "" : markdown.open(mark)),
  close: (mark) => (isBare(mark) ? "" : markdown.close(mark)),
};

/** Markdown of platforms that show all its blocks: GitHub, Linear, Slack. */
export const blockMarkdown = {
  ...plainMarkdown,
  escape: (text, isLineStart) =>
    withLayout(escapeNumbers(escapeMarkdown(text, isLineStart, withoutNames), isLineStart)),
  escapeCode: withoutMentionsInCode,
  blocks: { headings: 6, tables: true, tasks: true, dividers: true },
} satisfies Markup;

/** The address of a person's profile, which Linear turns into a mention. */
const PROFILE = /(\blinear\.app\/[^\s/]+\/profiles\/)(?=\S)/gi;

/** Linear's Markdown. An address that would mention a person is written out, with an invisible character. */
export const linearMarkdown = {
  ...blockMarkdown,
  escape: (text, isLineStart) => blockMarkdown.escape(text, isLineStart).replace(PROFILE, "$1\u200b"),
  canLink: (url) => blockMarkdown.canLink(url) && url.search(PROFILE) === -1,
} satisfies Markup;

function withLayout(text: string): string {
  return text.replace(
    /(\n+)( *)/g,
    (_match: string, breaks: string, spaces: string) =>
      (breaks.length === 1 ? "  \n" : breaks) + "\u00a0".repeat(spaces.length),
  );
}

function isBare(mark: TextMark): boolean {
  return mark.kind === "link" && mark.display !== undefined && /^(?:https?:\/\/|www\.)/i.test(mark.display);
}

/** Breaks runs of backticks, which would end a block of code. */
export function withoutFences(code: string): string {
  return code.replaceAll("``", "`\u200b`");
}

/** Returns the language of a code block. Some platforms read a single word in the first line as the language. */
export function languageOf(language: string | undefined): string {
  return language !== undefined && /^[\w+#-]+$/.test(language) ? language : "";
}
