import type { MarkdownBlocks } from "../../../../src/core/message/markup.ts";
import type { Code, Root } from "mdast";
import type { Container } from "../scan/containers.ts";
import type { Definitions } from "../parse/definitions.ts";
import type { Form } from "../form/form.ts";
import type { Mark, Piece } from "../pack/piece.ts";
import { NO_MARKS } from "../pack/piece.ts";
import type { BlockNode } from "../scan/resume.ts";
import { reenter, resumedNodes } from "../scan/resume.ts";
import type { TableShape } from "../form/flatten-table.ts";
import type { TextFormOptions } from "../form/text-form.ts";
import type { Continued, Join, MarkdownSegment } from "../scan/segment.ts";
import type { Block } from "../pack/block.ts";
import { BlockWriter } from "./block-writer.ts";
import {
  containersOf,
  continueTable,
  MAX_DEPTH,
  writeBlocks,
  writeItems,
  writeList,
} from "./write-blocks.ts";
import type { WriteContext } from "./write-blocks.ts";

const SEPARATORS = { block: "\n\n", line: "\n", space: " ", none: "" } as const;
const RANKS = { block: "block", line: "line", space: "weak" } as const;

/** Writes pieces that name their blocks, for platforms that show blocks themselves. */
export class BlockForm implements Form {
  readonly #options: TextFormOptions;
  readonly #knows: MarkdownBlocks | undefined;
  #writer = new BlockWriter();
  #textTable: TableShape | undefined;
  /** Blocks and marks of the open code block. */
  #code: { readonly blocks: readonly Block[]; readonly marks: readonly Mark[] } = { blocks: [], marks: [] };

  /** `knows` are the blocks that the platform shows itself. Undefined: all, and formulas. */
  constructor(options: TextFormOptions, knows: MarkdownBlocks | undefined) {
    this.#options = options;
    this.#knows = knows;
  }

  fork(): BlockForm {
    const copy = new BlockForm(this.#options, this.#knows);
    copy.#writer = this.#writer.fork();
    copy.#textTable = this.#textTable;
    copy.#code = this.#code;
    return copy;
  }

  take(): Piece[] {
    return this.#writer.take();
  }

  startCode(language: string | undefined): void {
    const named = language === undefined ? {} : { language };
    this.#separate("block");
    this.#code = { blocks: [{ kind: "code", ...named }], marks: [{ kind: "pre", ...named }] };
  }

  code(text: string): void {
    this.#writer.write(text, this.#code.marks, this.#code.blocks);
  }

  verbatim(text: string, segment: MarkdownSegment): void {
    const [block] = this.#resumed(segment);
    this.#separate(segment.join);
    this.#writer.write(text, NO_MARKS, [block?.kind === "paragraph" ? block : { kind: "paragraph" }]);
  }

  write(root: Root, segment: MarkdownSegment, definitions: Definitions): void {
    const { source } = segment;
    const context: WriteContext = {
      writer: this.#writer,
      targets: definitions.targets,
      ...this.#options,
      showsDefinition: (identifier) => definitions.isMissed(identifier),
      source,
      resume: { blocks: this.#resumed(segment) },
      knows: this.#knows,
      textTable: { shape: this.#textTable },
    };
    this.#write(root, segment, context);
    this.#textTable = context.textTable.shape;
  }

  #write(root: Root, { continued, join, itemNumber }: MarkdownSegment, context: WriteContext): void {
    if (continued !== undefined) return this.#goOn(root, continued, join, context);
    this.#separate(join);
    const [first, ...rest] = root.children;
    if (first?.type === "list" && itemNumber !== undefined) {
      writeList(first, context, [], itemNumber);
      this.#writeRest(rest, context, []);
    } else {
      writeBlocks(root.children, context, []);
    }
  }

  /** Continues in the open containers. */
  #goOn(root: Root, continued: Continued, join: Join, context: WriteContext): void {
    const before = this.#writer.last;
    const [leaf] = resumedNodes(root.children, continued.containers);
    if (leaf?.type !== "code" || continued.continues !== "code") this.#separate(join);
    const enter = (nodes: readonly BlockNode[], around: readonly Block[], depth: number): void => {
      const container = continued.containers[depth];
      const [first, ...rest] = nodes;
      const entered = container && first && reenter(first, container);
      if (container === undefined || entered === undefined) return writeLeaf(nodes, around);
      if (around.length >= MAX_DEPTH) {
        enter(entered.inside, around, depth + 1);
        return this.#writeRest([...flatSiblings(first, container), ...rest], context, around);
      }
      const known = before[around.length];
      if (container.kind === "quote") {
        enter(entered.inside, [...around, known?.kind === "quote" ? known : { kind: "quote" }], depth + 1);
      } else if (container.kind === "footnote") {
        enter(entered.inside, around, depth + 1);
      } else if (first?.type === "list") {
        const isOrdered = first.ordered === true;
        const list: Block =
          known?.kind === "list" && known.isOrdered === isOrdered ? known : { kind: "list", isOrdered };
        const item = before[around.length + 1];
        const inside: readonly Block[] = [
          ...around,
          list,
          item?.kind === "item" ? item : { kind: "item", ...(isOrdered ? { number: container.number } : {}) },
        ];
        enter(entered.inside, inside, depth + 1);
        const siblings = first.children.slice(1);
        if (siblings.length > 0) this.#separate("line");
        const start = isOrdered ? (container.number ?? 0) + 1 : undefined;
        writeItems(siblings, context, [...around, list], start);
      }
      this.#writeRest(rest, context, around);
    };
    const writeLeaf = (nodes: readonly BlockNode[], around: readonly Block[]): void => {
      const [first, ...rest] = nodes;
      if (first?.type === "table" && continued.continues === "table") {
        continueTable(first, { ...context, resume: { blocks: before } }, around);
      } else if (first?.type === "code" && continued.continues === "code") {
        this.#goOnWithCode(first, continued, join, around);
      } else {
        return writeBlocks(nodes, context, around);
      }
      this.#writeRest(rest, context, around);
    };
    enter(root.children, [], 0);
  }

  /** Continues a code block. Code is one text, so its line breaks belong to it. */
  #goOnWithCode({ value, lang }: Code, continued: Continued, join: Join, around: readonly Block[]): void {
    const text = value.trimEnd();
    if (text.trim() === "") return;
    const known = this.#writer.last[around.length];
    const named = lang ? { language: lang } : {};
    const isWithinLine = join === "none" || join === "space";
    const breaks = isWithinLine ? SEPARATORS[join] : "\n".repeat(continued.blankLines + 1);
    const isKnown = known?.kind === "code";
    if (!isKnown) this.#separate(join);
    const blocks: readonly Block[] = [...around, isKnown ? known : { kind: "code", ...named }];
    this.#writer.write((isKnown ? breaks : "") + text, [{ kind: "pre", ...named }], blocks);
  }

  /** Returns the blocks that the segment's first text is in. */
  #resumed({ continued, join }: MarkdownSegment): readonly Block[] {
    const before = this.#writer.last;
    if (continued === undefined) return [];
    const isApart = join === "block" || (continued.startsBlock && continued.continues === undefined);
    return isApart ? containersOf(before) : before;
  }

  #writeRest(nodes: readonly BlockNode[], context: WriteContext, around: readonly Block[]): void {
    if (nodes.length > 0) this.#writer.separate("\n\n", "block");
    writeBlocks(nodes, context, around);
  }

  #separate(join: Join): void {
    if (join !== "none") this.#writer.separate(SEPARATORS[join], RANKS[join]);
  }
}

/** Returns the list items after the one that continues, as a list. */
function flatSiblings(node: BlockNode | undefined, container: Container): readonly BlockNode[] {
  if (node?.type !== "list" || node.children.length < 2) return [];
  const start = container.kind === "item" ? (container.number ?? 0) + 1 : 1;
  return [{ ...node, start, children: node.children.slice(1) }];
}
