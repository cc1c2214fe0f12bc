import type { RichBlock, RichText } from "grammy/types";
import { badRequest } from "../bot-api-error.ts";
import { wordsOf } from "./rich-words.ts";

const maxLength = 32_768;
const maxBlocks = 500;
const maxDepth = 16;
const maxColumns = 20;
const maxFormattedRuns = 5_849;

/** Totals of a whole rich message. */
interface Count {
  length: number;
  blocks: number;
  depth: number;
  columns: number;
  runs: number;
}

/**
 * Checks Telegram's limits.
 * @throws {BotApiError} when the message is over one of them
 */
export function checkRichLimits(blocks: readonly RichBlock[]): void {
  const count: Count = { length: 0, blocks: 0, depth: 0, columns: 0, runs: 0 };
  for (const block of blocks) countBlock(block, 1, count);
  if (count.length > maxLength) throw badRequest("RICH_MESSAGE_TEXT_TOO_LONG");
  if (count.blocks > maxBlocks) throw badRequest("RICH_MESSAGE_BLOCKS_TOO_MANY");
  if (count.depth > maxDepth) throw badRequest("RICH_MESSAGE_DEPTH_INVALID");
  if (count.columns > maxColumns) throw badRequest("RICH_MESSAGE_TABLE_COLS_TOO_MANY");
  if (count.runs > maxFormattedRuns) throw badRequest("RICH_MESSAGE_TOO_LARGE");
}

function countBlock(block: RichBlock, depth: number, count: Count): void {
  count.blocks += 1;
  count.depth = Math.max(count.depth, depth);
  switch (block.type) {
    case "paragraph":
    case "heading":
    case "pre":
    case "footer":
    case "pullquote":
    case "expandable_blockquote":
    case "thinking":
      return countText(block.text, depth, count);
    case "mathematical_expression":
      count.length += lengthOf(block.expression);
      return undefined;
    case "details":
      countText(block.summary, depth, count);
      for (const inner of block.blocks) countBlock(inner, depth + 1, count);
      return undefined;
    case "blockquote":
      for (const inner of block.blocks) countBlock(inner, depth + 1, count);
      return undefined;
    case "list":
      for (const item of block.items) {
        count.blocks += 1;
        for (const inner of item.blocks) countBlock(inner, depth + 2, count);
      }
      return undefined;
    case "table":
      for (const row of block.cells) {
        count.blocks += 1;
        count.columns = Math.max(count.columns, row.length);
        for (const cell of row) countText(cell.text ?? "", depth + 2, count);
      }
      return undefined;
    default:
      return undefined;
  }
}

function countText(text: RichText, depth: number, count: Count): void {
  count.length += lengthOf(wordsOf(text));
  countRuns(text, depth, count);
}

function countRuns(text: RichText, depth: number, count: Count): void {
  if (typeof text === "string") return;
  if (Array.isArray(text)) {
    for (const run of text) countRuns(run, depth, count);
    return;
  }
  count.runs += 1;
  count.depth = Math.max(count.depth, depth + 1);
  if ("text" in text) countRuns(text.text, depth + 1, count);
}

/** Counts characters, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
