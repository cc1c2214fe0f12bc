import type { Markup, TextMark } from "../../../src/core/message/markup.ts";
import { withoutMarkers } from "./without-markers.ts";

const ZERO_WIDTH_SPACE = "\u200b";
const MARKERS = { bold: "*", italic: "_", strikethrough: "~", code: "`" } as const;

/**
 * WhatsApp's formatting. It cannot hide an address behind a text, so addresses are written out. Its markers cannot be
 * escaped: others look like them.
 */
export const whatsAppText: Markup = {
  escape: withoutMarkers,
  escapeCode: (text) => text.replaceAll("`", `\`${ZERO_WIDTH_SPACE}`),
  needsBorders: true,
  canLink: () => false,
  open: marker,
  close: (mark) => (mark.kind === "pre" ? "\n```" : marker(mark)),
};

function marker(mark: TextMark): string {
  if (mark.kind === "pre") return "```\n";
  return mark.kind === "quote" || mark.kind === "link" ? "" : MARKERS[mark.kind];
}
