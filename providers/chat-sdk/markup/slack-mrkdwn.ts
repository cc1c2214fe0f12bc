import type { Markup, TextMark } from "../../../src/core/message/markup.ts";
import { withoutMarkers } from "./without-markers.ts";
import { withoutNames } from "./without-mentions.ts";

const ZERO_WIDTH_SPACE = "\u200b";
const MARKERS = { bold: "*", italic: "_", strikethrough: "~", code: "`" } as const;

/**
 * Slack's mrkdwn. The three characters that Slack reserves become entities. Its markers cannot be escaped: characters
 * that look like them take their places.
 */
export const slackMrkdwn: Markup = {
  escape: (text) => escapeEntities(withoutMarkers(withoutNames(text))),
  escapeCode: (text) => escapeEntities(text.replaceAll("`", `\`${ZERO_WIDTH_SPACE}`)),
  needsBorders: true,
  canLink: (url) => /^(?:https?|mailto|tel|slack):/i.test(url) && !/[|>\s]/.test(url) && url.length <= 2000,
  open(mark: TextMark): string {
    if (mark.kind === "link") return `<${escapeEntities(mark.url)}|`;
    if (mark.kind === "pre") return "```\n";
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
  close(mark: TextMark): string {
    if (mark.kind === "link") return ">";
    if (mark.kind === "pre") return "\n```";
    return mark.kind === "quote" ? "" : MARKERS[mark.kind];
  },
};

function escapeEntities(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
