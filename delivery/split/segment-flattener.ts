import type { Root, RootContent } from "mdast";
import type { BlockContext, Place } from "./flatten-blocks.ts";
import { flattenBlocks, flattenList, TOP } from "./flatten-blocks.ts";
import { continueTable, fitsWidth } from "./flatten-table.ts";
import { collectDefinitions, fullParse, parseMarkdown } from "./parse-markdown.ts";
import { parseSimple } from "./parse-simple.ts";
import type { Mark, Piece } from "./piece.ts";
import { NO_MARKS } from "./piece.ts";
import { PieceWriter } from "./piece-writer.ts";
import type { CodeText, MarkdownSegment, Segment } from "./segment.ts";
import { weighText } from "./weigh-text.ts";

export interface FlattenOptions {
  readonly canLink: (url: string) => boolean;
  readonly tableWidth: number;
}

const SEPARATORS = { block: "\n\n", line: "\n" } as const;
const RANKS = { block: "block", line: "line", space: "weak" } as const;
/** Quotes and lists in each other, deeper than a stack can follow: such a text is no document. */
const TOO_DEEP = /^[ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+){65}/m;
/**
 * How much of one reply the whole parser reads, as `weighText` counts. What is longer, and no ordinary prose, list or
 * table, is no reply that anyone reads: it is shown as it was written.
 */
const MAX_PARSED_WEIGHT = 400_000;
const INSIDE_ITEM: Place = { marks: NO_MARKS, indent: "  ", depth: 1 };

/** Turns segments, in the order of the document, into pieces. Knows the definitions of the segments before. */
export class SegmentFlattener {
  readonly #options: FlattenOptions;
  #writer = new PieceWriter();
  #targets = new Map<string, string>();
  /** Labels in brackets that were not resolved when they were read. */
  #unresolved = new Set<string>();
  #code: { readonly marks: readonly Mark[]; started: boolean; blankLines: number } | undefined;

  #parsedWeight = 0;
  #forked = false;
  /** How the table was shown that the last segment ended with, so that a table that was cut goes on alike. */
  #tableIsAligned = false;

  constructor(options: FlattenOptions) {
    this.#options = options;
  }

  /** A flattener that goes on from here without a trace in this one. */
  fork(): SegmentFlattener {
    const copy = new SegmentFlattener(this.#options);
    copy.#writer = this.#writer.fork();
    copy.#targets = this.#targets;
    copy.#unresolved = this.#unresolved;
    copy.#code = this.#code && { ...this.#code };
    copy.#parsedWeight = this.#parsedWeight;
    copy.#forked = true;
    copy.#tableIsAligned = this.#tableIsAligned;
    return copy;
  }

  flatten(segment: Segment): Piece[] {
    switch (segment.kind) {
      case "markdown":
        this.#markdown(segment);
        break;
      case "code-start":
        this.#startCode(segment.openingLine);
        break;
      case "code-text":
        this.#codeText(segment);
        break;
      case "code-end":
        this.#code = undefined;
        break;
      default: {
        const unknown: never = segment;
        return unknown;
      }
    }
    return this.#writer.take();
  }

  #markdown(segment: MarkdownSegment): void {
    const { continued, join, verbatim } = segment;
    const place = continued?.insideItem === true ? INSIDE_ITEM : TOP;
    if (join !== "none") {
      this.#writer.separate(join === "space" ? " " : SEPARATORS[join] + place.indent, RANKS[join], NO_MARKS);
    }
    if (verbatim) return this.#writer.write(segment.source, NO_MARKS);
    const root = TOO_DEEP.test(segment.source)
      ? undefined
      : this.#parse(segment.source, continued?.reopen ?? "");
    if (root === undefined) return this.#writer.write(segment.written.trimEnd(), NO_MARKS);
    const context: BlockContext = {
      writer: this.#writer,
      targets: this.#targets,
      canLink: this.#options.canLink,
      tableWidth: this.#options.tableWidth,
      showsDefinition: (identifier) => this.#unresolved.has(identifier) && !this.#targets.has(identifier),
    };
    const [first, ...rest] = root.children;
    if (first?.type === "list" && segment.itemNumber !== undefined) {
      flattenList(first, context, TOP, segment.itemNumber);
      this.#flattenRest(rest, context, place);
    } else if (first?.type === "table" && continued?.continuesTable === true) {
      continueTable(first, context, place, this.#tableIsAligned);
      this.#flattenRest(rest, context, place);
    } else {
      flattenBlocks(root.children, context, place);
    }
    const table = root.children.at(-1);
    if (table?.type === "table") this.#tableIsAligned = fitsWidth(table, context);
    if (!this.#forked) this.#learn(segment.source, root);
  }

  #flattenRest(nodes: readonly RootContent[], context: BlockContext, place: Place): void {
    if (nodes.length > 0) this.#writer.separate(`\n\n${place.indent}`, "block", NO_MARKS);
    flattenBlocks(nodes, context, place);
  }

  /** Formatting that was thought to go on, and does not, is not shown as its openers. Undefined past the bound. */
  #parse(source: string, reopen: string): Root | undefined {
    const simple = parseSimple(source);
    if (simple === undefined) this.#parsedWeight += weighText(source);
    if (this.#parsedWeight > MAX_PARSED_WEIGHT && simple === undefined) return undefined;
    const root = simple ?? fullParse(source, this.#targets);
    const [first] = root.children;
    const [start] = first !== undefined && "children" in first ? first.children : [];
    const isText = start?.type === "text" && source.startsWith(reopen) && start.value.startsWith(reopen);
    return reopen !== "" && isText ? parseMarkdown(source.slice(reopen.length), this.#targets) : root;
  }

  #learn(source: string, root: Root): void {
    if (!source.includes("[")) return;
    for (const match of source.matchAll(/\[([^[\]\n]{1,200})\](?!:)/g)) {
      const identifier = (match[1] ?? "").trim().replace(/\s+/g, " ").toLowerCase();
      if (!this.#targets.has(identifier)) this.#unresolved.add(identifier);
    }
    collectDefinitions(root, (identifier, url) => {
      if (!this.#targets.has(identifier)) this.#targets.set(identifier, url);
    });
  }

  #startCode(openingLine: string): void {
    const [node] = parseMarkdown(openingLine, this.#targets).children;
    const language = node?.type === "code" && node.lang ? node.lang : undefined;
    const mark: Mark = language === undefined ? { kind: "pre" } : { kind: "pre", language };
    this.#writer.separate("\n\n", "block", NO_MARKS);
    this.#code = { marks: [mark], started: false, blankLines: 0 };
  }

  /** Blank lines wait for a line with text: those at the start and end of a block are layout. */
  #codeText({ text, newLine }: CodeText): void {
    const code = this.#code;
    if (code === undefined) return;
    if (newLine && text.trim() === "") {
      code.blankLines += 1;
      return;
    }
    const breaks = code.started && newLine ? "\n".repeat(code.blankLines + 1) : "";
    code.blankLines = 0;
    code.started = true;
    this.#writer.write(breaks + text, code.marks);
  }
}
