import type { Markup, MarkdownBlocks } from "../../../src/core/message/markup.ts";
import type { RichText } from "../../../src/core/message/rich-text.ts";
import { textLength } from "../../../src/core/text/text-length.ts";
import type { LengthUnit } from "../../../src/core/text/text-length.ts";
import { leafOf } from "../split/pack/block.ts";
import type { Block, Run } from "../split/pack/block.ts";
import type { Mark, Piece } from "../split/pack/piece.ts";
import type { Renderer } from "../split/pack/renderer.ts";
import { treesOf, VISIBLE } from "./build-blocks.ts";
import type { BlockTree } from "./build-blocks.ts";
import { countLineBreaks } from "./line-writer.ts";
import { createMarkupRenderer, writeMarkup } from "./markup.ts";

const RULE = "──────────";
/** Longest beginning of a heading: six signs, a space, and a backslash before a sign at its end. */
const HEADING_LENGTH = 8;
const BOX_LENGTH = 4;
/** A line break in a cell. Platforms without the tag have none in their tables. */
const CELL_BREAK = "<br>";

/**
 * Creates the renderer for a platform that shows the blocks of Markdown itself. The text has the structure that the model
 * wrote: headings, lists, tables and code. A table that continues in another message repeats its header.
 */
export function createBlockRenderer(
  markup: Markup,
  knows: MarkdownBlocks,
  unit?: LengthUnit,
): Renderer<RichText> {
  const inline = createMarkupRenderer(markup, unit);
  const lengthOf = (text: string): number => textLength(text, unit);
  const headerLength = (header: readonly (readonly Run[])[]): number =>
    header.reduce((sum, cell) => sum + lengthOf(cellText(cell, markup)), 0);
  return {
    knows,
    canLink: (url) => inline.canLink(url),
    effectiveMarks: (marks) => inline.effectiveMarks(marks.some(isOfBlock) ? marks.filter(isInline) : marks),
    markCost: (mark, marks) => inline.markCost(mark, marks),

    textLength(text, marks, blocks) {
      const leaf = leafOf(blocks)?.kind;
      const breaks = countLineBreaks(text) * prefixLength(blocks);
      // Each backtick of a block of code may make both of its fences longer.
      if (leaf === "code") return lengthOf(markup.escapeCode(text)) + 2 * count(text, "`") + breaks;
      const length = inline.textLength(text, marks, blocks) + breaks;
      return leaf === "cell" ? length + count(text, "|") + countLineBreaks(text) * CELL_BREAK.length : length;
    },

    blockCost(block, blocks) {
      const prefix = prefixLength(blocks.slice(0, blocks.indexOf(block)));
      // An empty line before the block, and the beginning of its first line.
      const apart = 2 + 2 * prefix;
      return { length: apart + ownLength(block, blocks, prefix), entities: 0 };
    },

    render: (pieces: readonly Piece[]) => ({ text: writeAll(treesOf(pieces)), entities: [] }),
  };

  function ownLength(block: Block, blocks: readonly Block[], prefix: number): number {
    switch (block.kind) {
      case "heading":
        return HEADING_LENGTH;
      case "code":
        return lengthOf(markup.open({ kind: "pre", ...languageOf(block) })) + 5 + 2 * prefix;
      case "divider":
        return lengthOf(RULE);
      case "item":
        return markerOf(block).length + BOX_LENGTH;
      case "table":
        return headerLength(block.header ?? []) + 9 * block.aligns.length + 4 + 2 * prefix;
      case "row": {
        const table = blocks.find((around) => around.kind === "table");
        return 3 * (table?.kind === "table" ? table.aligns.length : 0) + 2;
      }
      case "quote":
        return 2;
      case "paragraph":
      case "formula":
      case "list":
      case "cell":
        return 0;
      default:
        return block satisfies never;
    }
  }

  function writeAll(trees: readonly BlockTree[], isInItem = false): string {
    let text = "";
    for (const [index, tree] of trees.entries()) {
      const block = write(tree);
      if (block === "") continue;
      const isTight = isInItem && trees[index - 1]?.block.kind === "paragraph" && goesOnBelow(tree);
      text += (text === "" ? "" : isTight ? "\n" : "\n\n") + block;
    }
    return text;
  }

  function write({ block, children, runs }: BlockTree): string {
    switch (block.kind) {
      case "paragraph":
        return writeMarkup(runs, markup).trim();
      case "heading":
        return heading(block.level, runs);
      case "code":
        return code(block, runs);
      case "divider":
        return knows.dividers ? "---" : RULE;
      case "quote":
        return prefixed(writeAll(children), "> ", "> ");
      case "list":
        return children.map(item).join("\n");
      case "table":
        return table(block, children);
      case "formula":
      case "item":
      case "row":
      case "cell":
        return "";
      default:
        return block satisfies never;
    }
  }

  function heading(level: number, runs: readonly Run[]): string {
    const isKnown = level <= knows.headings;
    const bold: Mark = { kind: "bold" };
    const shown = isKnown ? runs : runs.map(({ text, marks }) => ({ text, marks: [bold, ...marks] }));
    const text = writeMarkup(shown, markup)
      .trim()
      .replace(/\s*\n\s*/g, " ");
    if (text === "" || !isKnown) return text;
    return `${"#".repeat(level)} ${text.replace(/(?<=\s)#+$/, "\\$&")}`;
  }

  function code(block: Extract<Block, { kind: "code" }>, runs: readonly Run[]): string {
    const text = markup.escapeCode(runs.map((run) => run.text).join(""));
    if (!VISIBLE.test(text)) return "";
    const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
    const fence = "`".repeat(longest + 1);
    return `${markup.open({ kind: "pre", ...languageOf(block) }).replace(/^`+/, fence)}${text}\n${fence}`;
  }

  function item({ block, children }: BlockTree): string {
    if (block.kind !== "item") return "";
    const marker = markerOf(block);
    const box = block.isChecked === undefined ? "" : boxOf(block.isChecked);
    return prefixed(box + writeAll(children, true), marker, " ".repeat(marker.length));
  }

  function boxOf(isChecked: boolean): string {
    if (knows.tasks) return isChecked ? "[x] " : "[ ] ";
    return isChecked ? "☑ " : "☐ ";
  }

  function table(block: Extract<Block, { kind: "table" }>, rows: readonly BlockTree[]): string {
    const { aligns, header = [] } = block;
    const written = rows.map((row) => {
      const cells = aligns.map((_, column) => {
        const cell = row.children.find(
          (child) => child.block.kind === "cell" && child.block.column === column,
        );
        return cell === undefined ? "" : cellText(cell.runs, markup);
      });
      return rowOf(cells);
    });
    const hasHeader = rows[0]?.children.some(({ block }) => block.kind === "cell" && block.isHeader) === true;
    if (!hasHeader) written.unshift(rowOf(aligns.map((_, column) => cellText(header[column] ?? [], markup))));
    const [first = "", ...rest] = written;
    return [first, rowOf(aligns.map((align) => LINES[align])), ...rest].join("\n");
  }
}

const LINES = { left: "---", center: ":-:", right: "--:" } as const;

function rowOf(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function cellText(runs: readonly Run[], markup: Markup): string {
  return writeMarkup(runs, markup, true)
    .trim()
    .replaceAll("|", "\\|")
    .replace(/\s*\n\s*/g, CELL_BREAK);
}

function markerOf({ number }: Extract<Block, { kind: "item" }>): string {
  return number === undefined ? "- " : `${number}. `;
}

/** Returns the length of what stands before each line inside of blocks. */
function prefixLength(blocks: readonly Block[]): number {
  let length = 0;
  for (const block of blocks) {
    if (block.kind === "quote") length += 2;
    if (block.kind === "item") length += markerOf(block).length;
  }
  return length;
}

function prefixed(text: string, first: string, others: string): string {
  return text
    .split("\n")
    .map((line, index) => {
      const prefix = index === 0 ? first : others;
      // A quote has its sign in front of empty lines, too.
      return line === "" && prefix.trim() === "" ? "" : prefix + line;
    })
    .join("\n");
}

/** Whether a list may begin right below a text. Any other block, and a list that begins with 2, needs an empty line. */
function goesOnBelow({ block, children: [first] }: BlockTree): boolean {
  if (block.kind !== "list" || first?.block.kind !== "item") return false;
  return first.block.number === undefined || first.block.number === 1;
}

function languageOf({ language }: Extract<Block, { kind: "code" }>): { readonly language?: string } {
  return language === undefined ? {} : { language };
}

function isInline({ kind }: Mark): boolean {
  return kind !== "quote" && kind !== "pre";
}

function isOfBlock(mark: Mark): boolean {
  return !isInline(mark);
}

function count(text: string, sign: string): number {
  return text.split(sign).length - 1;
}
