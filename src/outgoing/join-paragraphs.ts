import { CodeFollower } from "./code-follower.ts";

/** Adds a paragraph to a text, which may end anywhere, even inside a code block. A blank text stays as it is. */
export function joinParagraphs(text: string, paragraph: string): string {
  if (text.trim() === "") return paragraph;
  if (paragraph.trim() === "") return text;
  const code = new CodeFollower();
  for (const char of text) code.next(char);
  const fence = code.closingFence();
  const closed = fence === undefined ? text.trimEnd() : `${text.replace(/\n$/, "")}\n${fence}`;
  return `${closed}\n\n${paragraph}`;
}
