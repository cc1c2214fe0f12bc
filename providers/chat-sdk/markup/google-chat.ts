import type { Markup, TextMark } from "../../../src/core/message/markup.ts";
import { withoutMarkers } from "./without-markers.ts";
import { withoutMentions, withoutMentionsInCode } from "./without-mentions.ts";

const ZERO_WIDTH_SPACE = "\u200b";
const MARKERS = { bold: "*", italic: "_", strikethrough: "~", code: "`" } as const;

/** Google Chat's formatting of messages. Its markers cannot be escaped: others look like them. */
export const googleChatText: Markup = {
  escape: (text) => withoutMarkers(withoutMentions(text)),
  escapeCode: (text) => withoutMentionsInCode(text).replaceAll("`", `\`${ZERO_WIDTH_SPACE}`),
  needsBorders: true,
  lists: { bullet: "-", indent: "    " },
  canLink: (url) => /^(?:https?|mailto|tel):/i.test(url) && !/[|<>\s]/.test(url) && url.length <= 2000,
  open(mark: TextMark): string {
    if (mark.kind === "link") return mark.display === undefined ? `<${mark.url}|` : "";
    if (mark.kind === "pre") return "```\n";
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
  close(mark: TextMark): string {
    if (mark.kind === "link") return mark.display === undefined ? ">" : "";
    if (mark.kind === "pre") return "\n```";
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
};

const TAGS = { bold: "b", italic: "i", strikethrough: "s" } as const;

/** The text of Google Chat's cards: a few tags of HTML. Code is in a font with characters of one width. */
export const googleChatCard: Markup = {
  escape: (text) => escapeHtml(text).replaceAll("\n", "<br>"),
  escapeCode: (text) =>
    escapeHtml(text)
      .replaceAll("\n", "<br>")
      .replace(/ {2,}/g, (spaces) => "\u00a0".repeat(spaces.length)),
  canLink: (url) => /^(?:https?|mailto):/i.test(url) && !/[\s"<>]/.test(url) && url.length <= 2000,
  open(mark: TextMark): string {
    if (mark.kind === "link") return `<a href="${escapeHtml(mark.url)}">`;
    if (mark.kind === "pre" || mark.kind === "code") return '<font face="monospace">';
    return mark.kind === "quote" ? "" : `<${TAGS[mark.kind]}>`;
  },
  close(mark: TextMark): string {
    if (mark.kind === "link") return "</a>";
    if (mark.kind === "pre" || mark.kind === "code") return "</font>";
    return mark.kind === "quote" ? "" : `</${TAGS[mark.kind]}>`;
  },
};

/**
 * The adapter reads two asterisks as its own bold. JSON writes backslashes, control characters and halves of characters in
 * more bytes than were counted.
 */
function escapeHtml(text: string): string {
  return text
    .replace(/[&<>"*\\]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/(?!\n)[\p{Cc}\p{Cs}]/gu, " ");
}
