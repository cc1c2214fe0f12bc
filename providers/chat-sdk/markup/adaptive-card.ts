import type { Markup, TextMark } from "../../../src/core/message/markup.ts";
import { plainMarkdown as markdown } from "./markdown.ts";

/** The text of Adaptive Cards: bold, italic and links. A line break needs an empty line. */
export const adaptiveCardText: Markup = {
  ...markdown,
  escape: (text, isLineStart) => markdown.escape(text, isLineStart).replaceAll("  \n", "\n\n"),
  open: (mark) => (isShown(mark) ? markdown.open(mark) : ""),
  close: (mark) => (isShown(mark) ? markdown.close(mark) : ""),
};

function isShown({ kind }: TextMark): boolean {
  return kind === "bold" || kind === "italic" || kind === "link";
}
