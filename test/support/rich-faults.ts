import type { InlineText, MessageBlock } from "../../src/core/message/message-block.ts";

const MAX_DEPTH = 16;
const MAX_COLUMNS = 20;
const MAX_FORMATTED_RUNS = 5_800;

export interface RichLimits {
  readonly maxLength: number;
  readonly maxEntities: number;
}

/** What the Bot API would refuse in a rich message. Empty for a good one. */
export function richFaults(blocks: readonly MessageBlock[], limits: RichLimits): string[] {
  const faults: string[] = [];
  const length = stringsOf(blocks).join("").length;
  if (length > limits.maxLength) faults.push(`${length} units, at most ${limits.maxLength}`);
  const count = countBlocks(blocks);
  if (count > limits.maxEntities) faults.push(`${count} blocks, at most ${limits.maxEntities}`);
  if (blocks.length === 0) faults.push("no blocks");
  const runs = JSON.stringify(blocks).split('"type":').length;
  if (runs > MAX_FORMATTED_RUNS) faults.push(`${runs} formatted runs`);
  return [...faults, ...blocks.flatMap((block) => blockFaults(block, 1))];
}

/** Every string of the texts, in order. */
export function stringsOf(blocks: readonly MessageBlock[]): string[] {
  return blocks.flatMap((block) => {
    switch (block.type) {
      case "paragraph":
      case "heading":
        return inlineStrings(block.text);
      case "code":
        return [block.text];
      case "formula":
        return [block.expression];
      case "divider":
        return [];
      case "quote":
        return stringsOf(block.blocks);
      case "list":
        return block.items.flatMap((item) => stringsOf(item.blocks));
      case "table":
        return block.rows.flat().flatMap((cell) => inlineStrings(cell.text));
      default:
        return block satisfies never;
    }
  });
}

function inlineStrings(text: readonly InlineText[]): string[] {
  return text.flatMap((run) => {
    if (typeof run === "string") return [run];
    return run.type === "formula" ? [run.expression] : inlineStrings(run.text);
  });
}

export function countBlocks(blocks: readonly MessageBlock[]): number {
  return blocks.reduce((sum, block) => {
    if (block.type === "quote") return sum + 1 + countBlocks(block.blocks);
    if (block.type === "list")
      return sum + 1 + block.items.reduce((items, item) => items + 1 + countBlocks(item.blocks), 0);
    return sum + 1 + (block.type === "table" ? block.rows.length : 0);
  }, 0);
}

function blockFaults(block: MessageBlock, depth: number): string[] {
  const deep = depth > MAX_DEPTH ? [`${depth} levels`] : [];
  switch (block.type) {
    case "paragraph":
    case "heading":
      return [...deep, ...textFaults(block.text, depth, block.type)];
    case "code":
      return block.text.trim() === "" ? [...deep, "empty code"] : deep;
    case "formula":
      return block.expression.trim() === "" ? [...deep, "empty formula"] : deep;
    case "divider":
      return deep;
    case "quote":
      return [
        ...deep,
        ...(block.blocks.length === 0 ? ["empty quote"] : []),
        ...block.blocks.flatMap((inner) => blockFaults(inner, depth + 1)),
      ];
    case "list": {
      const ordered = block.items.filter(({ number }) => number !== undefined).length;
      return [
        ...deep,
        ...(block.items.length === 0 ? ["empty list"] : []),
        ...(ordered > 0 && ordered < block.items.length ? ["half an ordered list"] : []),
        ...block.items.flatMap(({ blocks }) => itemFaults(blocks, depth)),
      ];
    }
    case "table": {
      const widths = new Set(block.rows.map((row) => row.length));
      return [
        ...deep,
        ...(widths.size === 1 ? [] : ["rows of several lengths"]),
        ...(Math.max(...widths) > MAX_COLUMNS ? ["too many columns"] : []),
        ...block.rows.flat().flatMap(({ text }) => inlineFaults(text, depth + 2)),
      ];
    }
    default:
      return block satisfies never;
  }
}

/** An empty item holds an empty paragraph. */
function itemFaults(blocks: readonly MessageBlock[], depth: number): string[] {
  const [only] = blocks;
  if (blocks.length === 1 && only?.type === "paragraph" && only.text.length === 0) return [];
  return blocks.length === 0 ? ["empty item"] : blocks.flatMap((inner) => blockFaults(inner, depth + 2));
}

function textFaults(text: readonly InlineText[], depth: number, what: string): string[] {
  const empty = inlineStrings(text).join("").trim() === "";
  return [...(empty ? [`empty ${what}`] : []), ...inlineFaults(text, depth)];
}

function inlineFaults(text: readonly InlineText[], depth: number): string[] {
  return text.flatMap((run) => {
    if (typeof run === "string") return run.isWellFormed() ? [] : ["half a surrogate pair"];
    const deep = depth + 1 > MAX_DEPTH ? [`${depth + 1} levels`] : [];
    if (run.type === "formula") return run.expression === "" ? [...deep, "empty formula"] : deep;
    const isBadLink = run.type === "link" && !/^(?:https?:\/\/[^/]+\.[^/]+|tg:)/i.test(run.url);
    return [...deep, ...(isBadLink ? [`link to ${run.url}`] : []), ...inlineFaults(run.text, depth + 1)];
  });
}
