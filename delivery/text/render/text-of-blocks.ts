import type { InlineText, MessageBlock } from "../../../src/core/message/message-block.ts";
import { RULE } from "../split/blocks/write-blocks.ts";

/** Returns the words of a message of blocks, with plain signs for elements that only blocks can show. */
export function textOfBlocks(blocks: readonly MessageBlock[]): string {
  return blocks.map(textOf).join("\n\n");
}

function textOf(block: MessageBlock): string {
  switch (block.type) {
    case "paragraph":
    case "heading":
      return textOfInline(block.text);
    case "code":
      return block.text;
    case "formula":
      return block.expression;
    case "divider":
      return RULE;
    case "quote":
      return textOfBlocks(block.blocks).replaceAll(/^(?=.)/gm, "> ");
    case "list":
      return block.items
        .map(({ number, isChecked, blocks }) => {
          const box = isChecked === undefined ? undefined : isChecked ? "☑" : "☐";
          const label =
            [number === undefined ? undefined : `${number}.`, box].filter(Boolean).join(" ") || "•";
          return `${label} ${textOfBlocks(blocks).replaceAll("\n\n", "\n").replaceAll("\n", "\n  ")}`;
        })
        .join("\n");
    case "table":
      return block.rows.map((row) => row.map(({ text }) => textOfInline(text)).join(" │ ")).join("\n");
    default:
      return block satisfies never;
  }
}

export function textOfInline(text: readonly InlineText[]): string {
  return text
    .map((run) => {
      if (typeof run === "string") return run;
      return run.type === "formula" ? run.expression : textOfInline(run.text);
    })
    .join("");
}
