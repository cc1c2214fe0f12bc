import type { RichBlock, RichBlockListItem, RichText } from "grammy/types";

/** Returns the words of a rich message, with plain signs for its structure. */
export function wordsOfBlocks(blocks: readonly RichBlock[], between = "\n\n"): string {
  return blocks.map(wordsOfBlock).join(between);
}

function wordsOfBlock(block: RichBlock): string {
  switch (block.type) {
    case "paragraph":
    case "heading":
    case "pre":
    case "footer":
    case "pullquote":
    case "expandable_blockquote":
    case "thinking":
      return wordsOf(block.text);
    case "mathematical_expression":
      return block.expression;
    case "divider":
      return "⸻";
    case "blockquote":
      return wordsOfBlocks(block.blocks).replaceAll(/^(?=.)/gm, "> ");
    case "list":
      return block.items.map(wordsOfItem).join("\n");
    case "table":
      return block.cells.map((row) => row.map(({ text = "" }) => wordsOf(text)).join(" │ ")).join("\n");
    case "details":
      return [wordsOf(block.summary), wordsOfBlocks(block.blocks)].join("\n\n");
    default:
      // Media, maps and buttons are not modelled.
      return "";
  }
}

function wordsOfItem({ label, has_checkbox, is_checked, blocks }: RichBlockListItem): string {
  const box = has_checkbox ? (is_checked ? "☑" : "☐") : undefined;
  const isBullet = label === "•";
  const marks = [isBullet && box !== undefined ? undefined : label, box].filter(Boolean).join(" ");
  return `${marks} ${wordsOfBlocks(blocks, "\n").replaceAll("\n", "\n  ")}`;
}

export function wordsOf(text: RichText): string {
  if (typeof text === "string") return text;
  if (Array.isArray(text)) return text.map(wordsOf).join("");
  if ("expression" in text) return text.expression;
  if ("alternative_text" in text) return text.alternative_text;
  if ("text" in text) return wordsOf(text.text);
  return "button" in text ? wordsOf(text.button.text) : "";
}
