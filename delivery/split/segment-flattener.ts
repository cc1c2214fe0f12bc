import type { BlockContext } from "./flatten-blocks.ts";
import { flattenBlocks, flattenList, TOP } from "./flatten-blocks.ts";
import { collectDefinitions, parseMarkdown } from "./parse-markdown.ts";
import type { Mark, Piece } from "./piece.ts";
import { NO_MARKS } from "./piece.ts";
import { PieceWriter } from "./piece-writer.ts";
import type { CodeText, MarkdownSegment, Segment } from "./segment.ts";

export interface FlattenOptions {
  readonly canLink: (url: string) => boolean;
  readonly tableWidth: number;
}

/** Turns segments, in the order of the document, into pieces. Knows the definitions of the segments before. */
export class SegmentFlattener {
  readonly #options: FlattenOptions;
  #writer = new PieceWriter();
  #targets = new Map<string, string>();
  /** Labels in brackets that were not resolved when they were read. */
  #unresolved = new Set<string>();
  #code: { readonly marks: readonly Mark[]; started: boolean; blankLines: number } | undefined;

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
    copy.#forked = true;
    return copy;
  }

  #forked = false;

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
    const root = parseMarkdown(segment.source, this.#targets);
    const separator = segment.join === "block" ? "block" : "line";
    if (segment.join !== "inside") {
      this.#writer.separate(segment.join === "block" ? "\n\n" : "\n", separator, NO_MARKS);
    }
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
      if (rest.length > 0) this.#writer.separate("\n\n", "block", NO_MARKS);
      flattenBlocks(rest, context, TOP);
    } else {
      flattenBlocks(root.children, context, TOP);
    }
    if (!this.#forked) this.#learn(segment.source, root);
  }

  #learn(source: string, root: ReturnType<typeof parseMarkdown>): void {
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
