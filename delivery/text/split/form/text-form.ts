import type { Root } from "mdast";
import type { ListSigns } from "../../../../src/core/message/markup.ts";
import type { Definitions } from "../parse/definitions.ts";
import {
  flattenBlocks,
  flattenList,
  insideFootnote,
  insideItem,
  insideQuote,
  separateItems,
  standsAlone,
  TOP,
} from "./flatten-blocks.ts";
import type { BlockContext, Place } from "./flatten-blocks.ts";
import { continueTable } from "./flatten-table.ts";
import type { TableShape } from "./flatten-table.ts";
import type { Form } from "./form.ts";
import type { Mark, Piece } from "../pack/piece.ts";
import { NO_MARKS } from "../pack/piece.ts";
import { PieceWriter } from "./piece-writer.ts";
import type { BlockNode } from "../scan/resume.ts";
import { reenter } from "../scan/resume.ts";
import type { Continued, Join, MarkdownSegment } from "../scan/segment.ts";

export interface TextFormOptions {
  readonly canLink: (url: string) => boolean;
  readonly tableWidth: number;
  readonly lists?: ListSigns | undefined;
}

const BREAKS = { block: "\n\n", line: "\n", space: " ", none: "" } as const;
const RANKS = { block: "block", line: "line", space: "weak", none: "weak" } as const;

/** Shows the blocks of a document as text that looks like them. */
export class TextForm implements Form {
  readonly #options: TextFormOptions;
  #writer = new PieceWriter();
  /** Marks of the open code block. */
  #code: readonly Mark[] = NO_MARKS;
  /** The table that was shown last. */
  #table: TableShape | undefined;

  constructor(options: TextFormOptions) {
    this.#options = options;
  }

  fork(): TextForm {
    const copy = new TextForm(this.#options);
    copy.#writer = this.#writer.fork();
    copy.#code = this.#code;
    copy.#table = this.#table;
    return copy;
  }

  take(): Piece[] {
    return this.#writer.take();
  }

  verbatim(text: string, { join }: MarkdownSegment): void {
    this.#separate(join, "");
    this.#writer.write(text, NO_MARKS);
  }

  startCode(language: string | undefined): void {
    this.#separate("block", "");
    this.#code = [language === undefined ? { kind: "pre" } : { kind: "pre", language }];
  }

  code(text: string): void {
    this.#writer.write(text, this.#code);
  }

  write(root: Root, segment: MarkdownSegment, definitions: Definitions): void {
    const { continued, join, itemNumber } = segment;
    const context: BlockContext = {
      writer: this.#writer,
      targets: definitions.targets,
      showsDefinition: (identifier) => definitions.isMissed(identifier),
      onTable: (shape) => (this.#table = shape),
      ...this.#options,
    };
    if (continued !== undefined) return this.#goOn(root, join, continued, context);
    this.#separate(join, "");
    const [first, ...rest] = root.children;
    if (first?.type === "list" && itemNumber !== undefined) {
      flattenList(first, context, TOP, itemNumber);
      this.#flattenRest(rest, context, TOP);
    } else flattenBlocks(root.children, context, TOP);
  }

  /** Continues in the open containers, so that the text looks as if it had never been cut. */
  #goOn(root: Root, join: Join, continued: Continued, context: BlockContext): void {
    const marks = this.#writer.lastMarks;
    const quotes = marks.filter(({ kind }) => kind === "quote");
    let hasArrived = false;
    const arrive = (place: Place, node: BlockNode | undefined, tight: boolean): void => {
      if (hasArrived) return;
      hasArrived = true;
      if (join === "space" || join === "none") return this.#separate(join, "", place.marks);
      const startsBlock = node !== undefined && (node.type !== "paragraph" || continued.startsBlock);
      const apart = startsBlock && (!tight || node.type === "paragraph");
      const indent = node !== undefined && standsAlone(node) ? "" : place.indent;
      this.#separate(apart ? "block" : join, indent, place.marks);
    };
    const enter = (nodes: readonly BlockNode[], place: Place, depth: number, tight: boolean): void => {
      const container = continued.containers[depth];
      const [first, ...rest] = nodes;
      const entered = container && first && reenter(first, container);
      if (container === undefined || entered === undefined) return writeLeaf(nodes, place, tight);
      if (container.kind === "quote") {
        const mark = quotes.shift() ?? { kind: "quote" };
        enter(entered.inside, insideQuote(place, mark), depth + 1, false);
      } else if (container.kind === "footnote") {
        enter(entered.inside, insideFootnote(place), depth + 1, false);
      } else if (first?.type === "list") {
        const [open, next, ...others] = first.children;
        enter(entered.inside, insideItem(place, context), depth + 1, open?.spread !== true);
        if (next !== undefined) {
          arrive(place, undefined, true);
          separateItems(open, next, context, place);
          flattenList({ ...first, children: [next, ...others] }, context, place, (container.number ?? 0) + 1);
        }
      }
      writeRest(rest, place);
    };
    const writeLeaf = (nodes: readonly BlockNode[], place: Place, tight: boolean): void => {
      const [first, ...rest] = nodes;
      if (first?.type === "code" && continued.continues === "code") {
        const text = first.value.trimEnd();
        if (text.trim() === "") return writeRest(rest, place);
        const known = marks.find(({ kind }) => kind === "pre");
        if (known === undefined) arrive(place, first, tight);
        const isWithinLine = join === "none" || join === "space";
        const breaks = isWithinLine ? BREAKS[join] : "\n".repeat(continued.blankLines + 1);
        const pre: Mark = known ?? (first.lang ? { kind: "pre", language: first.lang } : { kind: "pre" });
        context.writer.write((known === undefined ? "" : breaks) + text, [...place.marks, pre]);
      } else if (first?.type === "table" && continued.continues === "table") {
        if (this.#table?.mark === undefined) this.#separate("block", place.indent, place.marks);
        this.#table = continueTable(first, context, place, this.#table);
      } else {
        if (first !== undefined) arrive(place, first, tight);
        return flattenBlocks(nodes, context, place, tight);
      }
      hasArrived = true;
      writeRest(rest, place);
    };
    const writeRest = (nodes: readonly BlockNode[], place: Place): void => {
      const [first] = nodes;
      if (first === undefined) return;
      if (hasArrived) return this.#flattenRest(nodes, context, place);
      arrive(place, first, false);
      flattenBlocks(nodes, context, place);
    };
    enter(root.children, TOP, 0, false);
  }

  #flattenRest(nodes: readonly BlockNode[], context: BlockContext, place: Place): void {
    const [first] = nodes;
    if (first === undefined) return;
    const indent = standsAlone(first) ? "" : place.indent;
    this.#writer.separate(`\n\n${indent}`, "block", place.marks);
    flattenBlocks(nodes, context, place);
  }

  #separate(join: Join, indent: string, marks: readonly Mark[] = NO_MARKS): void {
    if (join !== "none") this.#writer.separate(BREAKS[join] + indent, RANKS[join], marks);
  }
}
