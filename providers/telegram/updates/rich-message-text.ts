/** Deepest level that is read. Real messages nest blocks and texts only a few levels deep. */
const maxDepth = 16;

/** The fields of a block or of a piece of rich text that hold words, in the order in which they are read. */
const wordFields = [
  "label",
  "summary",
  "text",
  "expression",
  "alternative_text",
  "items",
  "blocks",
  "cells",
  "caption",
  "credit",
];

/** Returns the words of a rich message (https://core.telegram.org/bots/api#richmessage), one block per line. */
export function richMessageText(blocks: readonly unknown[]): string {
  return blocks
    .map((block) => wordsOf(block, 0))
    .filter((line) => line !== "")
    .join("\n");
}

function wordsOf(value: unknown, depth: number): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth > maxDepth) return "";
  // A list of texts is one line of words. A list of blocks, items or cells is several lines.
  if (Array.isArray(value)) {
    const between = value.some(isBlock) ? "\n" : "";
    return value
      .map((item) => wordsOf(item, depth + 1))
      .filter((words) => words !== "")
      .join(between);
  }
  const record = value as Record<string, unknown>;
  return wordFields
    .map((field) => wordsOf(record[field], depth + 1))
    .filter((words) => words !== "")
    .join(" ");
}

function isBlock(item: unknown): boolean {
  if (Array.isArray(item)) return true;
  return (
    typeof item === "object" && item !== null && ("blocks" in item || "align" in item || "items" in item)
  );
}
