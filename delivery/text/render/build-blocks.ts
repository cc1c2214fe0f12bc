import type {
  InlineText,
  ListItemBlock,
  MessageBlock,
  TableCellBlock,
} from "../../../src/core/message/message-block.ts";
import type { Block, CellAlign } from "../split/pack/block.ts";
import { leafOf } from "../split/pack/block.ts";
import type { Mark, Piece } from "../split/pack/piece.ts";

/** A stretch of a leaf's text, in the order of the document. */
interface Run {
  readonly text: string;
  readonly marks: readonly Mark[];
  readonly isFormula: boolean;
}

/** A block with the blocks in it, or with the text of a leaf. */
export interface BlockTree {
  readonly block: Block;
  readonly children: readonly BlockTree[];
  readonly runs: readonly Run[];
}

/** A block while it is built. */
interface Node extends BlockTree {
  readonly children: Node[];
  readonly runs: Run[];
}

const ROOT: Block = { kind: "quote" };

/** Builds the blocks of a part. */
export function buildBlocks(pieces: readonly Piece[]): readonly MessageBlock[] {
  return blocksOf(treesOf(pieces));
}

/** Returns the blocks that the pieces of a part name. A list that continues another one of its kind is one list. */
export function treesOf(pieces: readonly Piece[]): readonly BlockTree[] {
  const root: Node = { block: ROOT, children: [], runs: [] };
  let open: readonly Node[] = [];
  let leaf: Node | undefined;
  let separator = "";
  for (const piece of pieces) {
    if (piece.separator !== undefined) {
      separator += piece.text;
      continue;
    }
    const blocks = piece.blocks ?? [];
    const outer = blocks.slice(0, blocks.lastIndexOf(leafOf(blocks) ?? ROOT) + 1);
    const isFormula = outer.length < blocks.length;
    open = openNodes(root, open, outer);
    const now = open.at(-1) ?? root;
    if (separator !== "" && now === leaf) now.runs.push({ text: separator, marks: [], isFormula: false });
    separator = "";
    leaf = now;
    now.runs.push({ text: piece.text, marks: piece.marks, isFormula });
  }
  return root.children;
}

function openNodes(root: Node, open: readonly Node[], blocks: readonly Block[]): readonly Node[] {
  const nodes: Node[] = [];
  for (const [depth, block] of blocks.entries()) {
    const known = open[depth];
    if (known?.block === block && nodes.length === depth && open[depth - 1] === nodes[depth - 1]) {
      nodes.push(known);
      continue;
    }
    const parent = nodes.at(-1) ?? root;
    const before = parent.children.at(-1);
    if (before !== undefined && goesOn(before.block, block)) {
      nodes.push(before);
      continue;
    }
    const node: Node = { block, children: [], runs: [] };
    parent.children.push(node);
    nodes.push(node);
  }
  return nodes;
}

function goesOn(before: Block, block: Block): boolean {
  if (before === block) return true;
  return before.kind === "list" && block.kind === "list" && before.isOrdered === block.isOrdered;
}

function blocksOf(nodes: readonly BlockTree[]): readonly MessageBlock[] {
  return nodes.map(blockOf).filter((block) => block !== undefined);
}

/** Returns undefined for a block without text, which platforms refuse. */
function blockOf({ block, children, runs }: BlockTree): MessageBlock | undefined {
  switch (block.kind) {
    case "paragraph": {
      const text = inlineOf(runs);
      return text.length === 0 ? undefined : { type: "paragraph", text };
    }
    case "heading": {
      const text = inlineOf(runs);
      return text.length === 0 ? undefined : { type: "heading", level: block.level, text };
    }
    case "code": {
      const text = runs.map((run) => run.text).join("");
      if (!VISIBLE.test(text)) return undefined;
      return block.language === undefined
        ? { type: "code", text }
        : { type: "code", text, language: block.language };
    }
    case "formula": {
      const expression = runs
        .map((run) => run.text)
        .join("")
        .trim();
      return expression === "" ? undefined : { type: "formula", expression };
    }
    case "divider":
      return { type: "divider" };
    case "quote": {
      const blocks = blocksOf(children);
      return blocks.length === 0 ? undefined : { type: "quote", blocks };
    }
    case "list": {
      const items = children.map(itemOf).filter((item) => item !== undefined);
      return items.length === 0 ? undefined : { type: "list", items };
    }
    case "table":
      return tableOf(block.aligns, children);
    case "item":
    case "row":
    case "cell":
      // These blocks appear only inside lists and tables.
      return undefined;
    default:
      return block satisfies never;
  }
}

function itemOf({ block, children }: BlockTree): ListItemBlock | undefined {
  if (block.kind !== "item") return undefined;
  const known = blocksOf(children);
  const blocks: readonly MessageBlock[] = known.length > 0 ? known : [{ type: "paragraph", text: [] }];
  return {
    ...(block.number === undefined ? {} : { number: block.number }),
    ...(block.isChecked === undefined ? {} : { isChecked: block.isChecked }),
    blocks,
  };
}

function tableOf(aligns: readonly CellAlign[], rows: readonly BlockTree[]): MessageBlock | undefined {
  const filled = rows
    .map((row) => rowOf(aligns, row))
    .filter((row) => row.some(({ text }) => text.length > 0));
  return filled.length === 0 ? undefined : { type: "table", rows: filled };
}

function rowOf(aligns: readonly CellAlign[], { children }: BlockTree): readonly TableCellBlock[] {
  const cells = children.map(({ block, runs }) => ({ block, runs }));
  const isHeader = cells.some(({ block }) => block.kind === "cell" && block.isHeader);
  return aligns.map((align, column) => {
    const cell = cells.find(({ block }) => block.kind === "cell" && block.column === column);
    return { isHeader, align, text: cell === undefined ? [] : inlineOf(cell.runs) };
  });
}

/** Returns nothing for text without a visible character. */
function inlineOf(runs: readonly Run[]): readonly InlineText[] {
  return runs.some(({ text }) => VISIBLE.test(text)) ? nest(runs, 0) : [];
}

/** Matches visible text. */
export const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\p{Control}]/u;

/** Groups neighbouring runs with the same outer mark under that mark. */
function nest(runs: readonly Run[], depth: number): readonly InlineText[] {
  const texts: InlineText[] = [];
  for (let index = 0; index < runs.length;) {
    const mark = runs[index]?.marks[depth];
    let end = index + 1;
    while (end < runs.length && runs[end]?.marks[depth] === mark) end += 1;
    const group = runs.slice(index, end);
    if (mark === undefined) texts.push(...plain(group));
    else texts.push(...marked(mark, nest(group, depth + 1)));
    index = end;
  }
  return texts;
}

function plain(runs: readonly Run[]): readonly InlineText[] {
  const texts: InlineText[] = [];
  for (const { text, isFormula } of runs) {
    const before = texts.at(-1);
    if (isFormula) texts.push({ type: "formula", expression: text });
    else if (typeof before === "string") texts[texts.length - 1] = before + text;
    else texts.push(text);
  }
  return texts;
}

function marked(mark: Mark, text: readonly InlineText[]): readonly InlineText[] {
  switch (mark.kind) {
    case "bold":
    case "italic":
    case "strikethrough":
    case "code":
      return [{ type: mark.kind, text }];
    case "link":
      return [{ type: "link", url: mark.url, text }];
    case "quote":
    case "pre":
      return text;
    default:
      return mark satisfies never;
  }
}
