import type { MarkdownBlocks } from "../../../../src/core/message/markup.ts";
import type { Heading, List, ListItem, Nodes, PhrasingContent, Table, TableRow } from "mdast";
import { flattenBlocks, TOP, trimBlankLines, withoutBreakTags } from "../form/flatten-blocks.ts";
import type { BlockContext } from "../form/flatten-blocks.ts";
import type { FlattenContext } from "../form/flatten-inline.ts";
import { flattenInline } from "../form/flatten-inline.ts";
import { continueTable as continueTextTable, flattenTable } from "../form/flatten-table.ts";
import type { TableShape } from "../form/flatten-table.ts";
import type { Mark, Piece } from "../pack/piece.ts";
import { NO_MARKS } from "../pack/piece.ts";
import type { BlockNode } from "../scan/resume.ts";
import { PieceWriter } from "../form/piece-writer.ts";
import { isLeaf } from "../pack/block.ts";
import type { Block, CellAlign, Run } from "../pack/block.ts";
import type { BlockWriter } from "./block-writer.ts";
import { cutAtFormulas } from "./formulas.ts";

export interface WriteContext extends Omit<BlockContext, "writer"> {
  readonly writer: BlockWriter;
  readonly source: string;
  /** The blocks in which an earlier cut left the text. The next text continues in those that match. */
  readonly resume: { blocks: readonly Block[] };
  /** Blocks that the platform shows itself. Undefined: all, and formulas. */
  readonly knows: MarkdownBlocks | undefined;
  /** The table that was shown last as text. */
  readonly textTable: { shape: TableShape | undefined };
}

/** A divider as text. It cannot be cut. */
export const RULE = "⸻";
/**
 * Deepest nesting of blocks. Telegram allows sixteen levels; the rest is room for a list or table, its items or cells,
 * and their formatting.
 */
export const MAX_DEPTH = 9;
const MAX_COLUMNS = 20;
/** Longest header that a platform gets again when its table is cut. */
const MAX_HEADER = 500;
/** Invisible text of an empty item. */
const NOTHING = "\u200b";

/** Writes the blocks of a segment into pieces that name them. */
export function writeBlocks(
  nodes: readonly BlockNode[],
  context: WriteContext,
  around: readonly Block[],
): void {
  for (const [index, node] of nodes.entries()) {
    if (index > 0) context.writer.separate("\n\n", nodes[index - 1]?.type === "heading" ? "weak" : "block");
    writeBlock(node, context, around);
  }
  if (nodes.at(-1)?.type === "heading") context.writer.separate("\n", "weak");
}

function writeBlock(node: BlockNode, context: WriteContext, around: readonly Block[]): void {
  const { writer } = context;
  switch (node.type) {
    case "paragraph":
      return writeParagraph(node.children, context, around);
    case "heading":
      return writeInline(node.children, context, [...around, { kind: "heading", level: levelOf(node) }]);
    case "thematicBreak":
      return write(context, RULE, NO_MARKS, [...around, { kind: "divider" }]);
    case "code": {
      const language = node.lang ? { language: node.lang } : {};
      const blocks = enter(context, around, { kind: "code", ...language });
      return write(context, trimBlankLines(node.value), [{ kind: "pre", ...language }], blocks);
    }
    case "html":
      return write(
        context,
        withoutBreakTags(node.value),
        NO_MARKS,
        enter(context, around, { kind: "paragraph" }),
      );
    case "blockquote":
      if (around.length >= MAX_DEPTH) return writeFlat([node], context, around);
      return writeBlocks(node.children, context, enter(context, around, { kind: "quote" }));
    case "list":
      return writeList(node, context, around, node.start ?? 1);
    case "table":
      return writeTable(node, context, around);
    case "definition":
      if (context.showsDefinition(node.identifier)) {
        const text = `[${node.label ?? node.identifier}]: ${node.url}`;
        write(context, text, NO_MARKS, [...around, { kind: "paragraph" }]);
      }
      return undefined;
    case "footnoteDefinition": {
      const blocks: readonly Block[] = [...around, { kind: "paragraph" }];
      const [first, ...rest] = node.children;
      write(context, `[^${node.label ?? node.identifier}]: `, NO_MARKS, blocks);
      if (first?.type === "paragraph") writeInline(first.children, context, blocks);
      const left = first?.type === "paragraph" ? rest : node.children;
      if (left.length > 0) writer.separate("\n\n", "block");
      return writeBlocks(left, context, around);
    }
    case "listItem":
      return writeItem(node, context, around, undefined);
    case "yaml":
      return write(context, node.value, NO_MARKS, [...around, { kind: "paragraph" }]);
    case "tableRow":
    case "tableCell":
      return undefined;
    default:
      return writeInline([node], context, [...around, { kind: "paragraph" }]);
  }
}

/** Writes a paragraph. A formula that is the whole paragraph becomes a block. */
function writeParagraph(
  children: readonly PhrasingContent[],
  context: WriteContext,
  around: readonly Block[],
): void {
  const [only, ...others] = children;
  if (context.knows === undefined && only?.type === "text" && others.length === 0) {
    const [run, ...rest] = cutAtFormulas(only.value, context.source);
    if (run?.isDisplayed === true && rest.length === 0) {
      return write(context, run.text, NO_MARKS, [...around, { kind: "formula" }]);
    }
  }
  writeInline(children, context, enter(context, around, { kind: "paragraph" }));
}

function writeInline(
  children: readonly PhrasingContent[],
  context: WriteContext,
  blocks: readonly Block[],
): void {
  for (const { text, marks } of piecesOf(children, context)) {
    const isVerbatim = context.knows !== undefined || marks.some(({ kind }) => kind === "code");
    const runs = isVerbatim ? [{ text, isFormula: false }] : cutAtFormulas(text, context.source);
    for (const run of runs) {
      write(context, run.text, marks, run.isFormula ? [...blocks, { kind: "formula" }] : blocks);
    }
  }
}

function piecesOf(children: readonly PhrasingContent[], context: WriteContext): readonly Piece[] {
  const writer = new PieceWriter();
  flattenInline(children, { ...context, writer }, NO_MARKS, "");
  return writer.take();
}

/** Writes a list. `start` is the number of its first item. A segment that continues a list passes its own number. */
export function writeList(list: List, context: WriteContext, around: readonly Block[], start: number): void {
  // A reply such as "42." is an empty list in markdown.
  const isEmpty = !list.children.some((item) => hasText(item, context));
  if (isEmpty || around.length >= MAX_DEPTH) return writeFlat([{ ...list, start }], context, around);
  const isOrdered = list.ordered === true;
  const blocks: readonly Block[] = [...around, { kind: "list", isOrdered }];
  writeItems(list.children, context, blocks, isOrdered ? start : undefined);
}

/**
 * Writes items of a list, which is the last block of `around`. `start` is the number of the first item; undefined for
 * bullets.
 */
export function writeItems(
  items: readonly ListItem[],
  context: WriteContext,
  around: readonly Block[],
  start: number | undefined,
): void {
  for (const [index, item] of items.entries()) {
    if (index > 0) context.writer.separate("\n", "line");
    writeItem(item, context, around, start === undefined ? undefined : start + index);
  }
}

function writeItem(
  item: ListItem,
  context: WriteContext,
  around: readonly Block[],
  number: number | undefined,
): void {
  const block: Block = {
    kind: "item",
    ...(number === undefined ? {} : { number }),
    ...(typeof item.checked === "boolean" ? { isChecked: item.checked } : {}),
  };
  const blocks: readonly Block[] = [...around, block];
  const before = context.writer.last;
  writeBlocks(item.children, context, blocks);
  if (context.writer.last !== before) return;
  write(context, NOTHING, NO_MARKS, [...blocks, { kind: "paragraph" }]);
}

function writeTable(table: Table, context: WriteContext, around: readonly Block[]): void {
  const columns = Math.max(0, ...table.children.map((row) => row.children.length));
  if (around.length >= MAX_DEPTH || columns > MAX_COLUMNS) return writeFlat([table], context, around);
  if (context.knows?.tables === false) {
    return writeTextTable(context, around, (text) => flattenTable(table, text, TOP));
  }
  const aligns = Array.from({ length: columns }, (_, column) => alignOf(table, column));
  const blocks: readonly Block[] = [...around, { kind: "table", aligns, ...headerOf(table, context) }];
  writeRows(table.children, context, blocks, true);
}

/** Writes a table as text: aligned in a code block, or as lines. */
function writeTextTable(
  context: WriteContext,
  around: readonly Block[],
  flatten: (context: FlattenContext) => TableShape,
): void {
  const writer = new PieceWriter();
  const { mark } = (context.textTable.shape = flatten({ ...context, writer }));
  const known = context.writer.last[around.length];
  const kind = mark === undefined ? "paragraph" : "code";
  const goesOn = kind === "code" && known?.kind === "code" && context.resume.blocks.includes(known);
  const leaf: Block = goesOn ? known : { kind };
  for (const [index, { text, marks }] of writer.take().entries()) {
    // The separator before the text has the line break.
    const shown = goesOn && index === 0 ? text.replace(/^\n/, "") : text;
    write(context, shown, marks, [...around, leaf]);
  }
}

function headerOf(
  { children: [header] }: Table,
  context: WriteContext,
): { readonly header?: readonly (readonly Run[])[] } {
  if (context.knows === undefined || header === undefined) return {};
  const cells = header.children.map(({ children }) => piecesOf(children, context));
  const length = cells.flat().reduce((sum, { text }) => sum + text.length, 0);
  return length > MAX_HEADER ? {} : { header: cells };
}

/** Writes more rows of a table. The segment repeats the head of the table, which was shown before. */
export function continueTable(table: Table, context: WriteContext, around: readonly Block[]): void {
  const { blocks } = context.resume;
  const at = blocks.findLastIndex(({ kind }) => kind === "table");
  const rows = table.children.slice(1);
  if (context.knows?.tables === false) {
    const { shape } = context.textTable;
    // A row that becomes lines is a paragraph of its own.
    if (shape?.mark === undefined) context.writer.separate("\n\n", "block");
    return writeTextTable(context, around, (text) => continueTextTable(table, text, TOP, shape));
  }
  if (at === -1) {
    const aligns = (table.children[0]?.children ?? []).map((_, column) => alignOf(table, column));
    if (aligns.length > MAX_COLUMNS) return writeFlat([{ ...table, children: rows }], context, around);
    const block: Block = { kind: "table", aligns, ...headerOf(table, context) };
    return writeRows(rows, context, [...around, block], false);
  }
  writeRows(rows, context, blocks.slice(0, at + 1), false);
}

function writeRows(
  rows: readonly TableRow[],
  context: WriteContext,
  blocks: readonly Block[],
  hasHeader: boolean,
): void {
  for (const [index, row] of rows.entries()) {
    if (index > 0) context.writer.separate("\n", "line");
    const inside: readonly Block[] = [...blocks, { kind: "row" }];
    for (const [column, cell] of row.children.entries()) {
      if (column > 0) context.writer.separate(" ", "weak");
      const isHeader = hasHeader && index === 0;
      writeInline(cell.children, context, [...inside, { kind: "cell", column, isHeader }]);
    }
  }
}

/** Writes blocks that are nested too deeply, or are too wide, as plain text in one paragraph. */
function writeFlat(nodes: readonly BlockNode[], context: WriteContext, around: readonly Block[]): void {
  const writer = new PieceWriter();
  flattenBlocks(nodes, { ...context, writer, tableWidth: 0 }, TOP);
  const blocks: readonly Block[] = [...around, { kind: "paragraph" }];
  for (const { text, marks } of writer.take()) {
    const shown = marks.filter(({ kind }) => kind !== "quote");
    write(context, text, shown.map(asInline), blocks);
  }
}

/** Turns a code block into code inside a paragraph. */
function asInline(mark: Mark): Mark {
  return mark.kind === "pre" ? { kind: "code" } : mark;
}

function write(context: WriteContext, text: string, marks: readonly Mark[], blocks: readonly Block[]): void {
  if (text === "") return;
  context.writer.write(text, marks, blocks);
  context.resume.blocks = [];
}

/** Adds a block to `around`. If the text continues in a block of the same kind, that block is used again. */
function enter(context: WriteContext, around: readonly Block[], block: Block): readonly Block[] {
  const { blocks } = context.resume;
  const known = blocks[around.length];
  const goesOn = known?.kind === block.kind && around.every((outer, index) => blocks[index] === outer);
  return [...around, goesOn && known !== undefined ? known : block];
}

function hasText(node: Nodes, context: WriteContext): boolean {
  if (node.type === "definition") return context.showsDefinition(node.identifier);
  if ("value" in node) return node.value.trim() !== "";
  if ("children" in node) return node.children.some((child) => hasText(child, context));
  return node.type !== "break";
}

function levelOf({ depth }: Heading): 1 | 2 | 3 | 4 | 5 | 6 {
  return depth;
}

function alignOf(table: Table, column: number): CellAlign {
  return table.align?.[column] ?? "left";
}

/** Of the blocks at the end of a cut text, returns those that continue after a blank line: the containers. */
export function containersOf(blocks: readonly Block[]): readonly Block[] {
  const at = blocks.findIndex((block) => isLeaf(block) || block.kind === "code" || block.kind === "formula");
  return at === -1 ? blocks : blocks.slice(0, at);
}
