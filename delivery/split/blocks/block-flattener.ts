import type { Root } from "mdast";
import { collectDefinitions, parseMarkdown } from "../parse-markdown.ts";
import type { Mark, Piece } from "../piece.ts";
import { NO_MARKS } from "../piece.ts";
import type { CodeText, MarkdownSegment, Segment } from "../segment.ts";
import type { Block } from "./block.ts";
import { BlockWriter } from "./block-writer.ts";
import { containersOf, continueTable, writeBlocks, writeList } from "./write-blocks.ts";
import type { WriteContext } from "./write-blocks.ts";

const SEPARATORS = { block: "\n\n", line: "\n", space: " " } as const;
const RANKS = { block: "block", line: "line", space: "weak" } as const;
/** Quotes and lists in each other, deeper than a stack can follow: such a text is no document. */
const TOO_DEEP = /^[ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+){65}/m;

/** A fenced block whose lines are still coming. */
interface OpenCode {
  readonly blocks: readonly Block[];
  readonly marks: readonly Mark[];
  started: boolean;
  blankLines: number;
}

/**
 * Turns segments, in the order of the document, into pieces for a platform that shows blocks itself. Knows the
 * definitions of the segments before.
 */
export class BlockFlattener {
  readonly #canLink: (url: string) => boolean;
  #writer = new BlockWriter();
  #targets = new Map<string, string>();
  /** Labels in brackets that were not resolved when they were read. */
  #unresolved = new Set<string>();
  #code: OpenCode | undefined;
  #isForked = false;

  constructor({ canLink }: { readonly canLink: (url: string) => boolean }) {
    this.#canLink = canLink;
  }

  /** A flattener that goes on from here without a trace in this one. */
  fork(): BlockFlattener {
    const copy = new BlockFlattener({ canLink: this.#canLink });
    copy.#writer = this.#writer.fork();
    copy.#targets = this.#targets;
    copy.#unresolved = this.#unresolved;
    copy.#code = this.#code && { ...this.#code };
    copy.#isForked = true;
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
      default:
        segment satisfies never;
    }
    return this.#writer.take();
  }

  #markdown(segment: MarkdownSegment): void {
    const { continued, join, verbatim, source } = segment;
    const before = this.#writer.last;
    if (join !== "none") this.#writer.separate(SEPARATORS[join], RANKS[join]);
    const resumed = continued === undefined ? [] : join === "block" ? containersOf(before) : before;
    if (verbatim || TOO_DEEP.test(source)) {
      const [block] = resumed;
      this.#writer.write(source, NO_MARKS, [block?.kind === "paragraph" ? block : { kind: "paragraph" }]);
      return;
    }
    const root = this.#parse(source, continued?.reopen ?? "");
    const around = continued?.insideItem === true ? itemOf(before) : [];
    const context: WriteContext = {
      writer: this.#writer,
      targets: this.#targets,
      canLink: this.#canLink,
      tableWidth: 0,
      showsDefinition: (identifier) => this.#unresolved.has(identifier) && !this.#targets.has(identifier),
      source,
      resume: { blocks: resumed },
    };
    const [first, ...rest] = root.children;
    if (first?.type === "list" && segment.itemNumber !== undefined) {
      writeList(first, context, [], segment.itemNumber);
      this.#writeRest(rest, context, []);
    } else if (first?.type === "table" && continued?.continuesTable === true) {
      continueTable(first, { ...context, resume: { blocks: before } });
      this.#writeRest(rest, context, around);
    } else {
      writeBlocks(root.children, context, around);
    }
    if (!this.#isForked) this.#learn(source, root);
  }

  #writeRest(nodes: Root["children"], context: WriteContext, around: readonly Block[]): void {
    if (nodes.length > 0) this.#writer.separate("\n\n", "block");
    writeBlocks(nodes, context, around);
  }

  /** Formatting that was thought to go on, and does not, is not shown as its openers. */
  #parse(source: string, reopen: string): Root {
    const root = parseMarkdown(source, this.#targets);
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
    const language = node?.type === "code" && node.lang ? { language: node.lang } : {};
    this.#writer.separate("\n\n", "block");
    this.#code = {
      blocks: [{ kind: "code", ...language }],
      marks: [{ kind: "pre", ...language }],
      started: false,
      blankLines: 0,
    };
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
    this.#writer.write(breaks + text, code.marks, code.blocks);
  }
}

/** The item of the outermost list, which goes on. */
function itemOf(blocks: readonly Block[]): readonly Block[] {
  const [list, item] = blocks;
  return list?.kind === "list" && item?.kind === "item" ? [list, item] : [];
}
