import { CodeFollower } from "./code-follower.ts";

/** A paragraph of its own after a text that may end anywhere, also inside a code block. A blank text adds nothing. */
export function joinParagraphs(text: string, paragraph: string): string {
  if (text.trim() === "") return paragraph;
  if (paragraph.trim() === "") return text;
  const code = new CodeFollower();
  for (const char of text) code.next(char);
  const fence = code.closingFence();
  const closed = fence === undefined ? text.trimEnd() : `${text.replace(/\n$/, "")}\n${fence}`;
  return `${closed}\n\n${paragraph}`;
}
