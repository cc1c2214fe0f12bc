import type { Nodes, Root } from "mdast";
import { Definitions } from "./parse/definitions.ts";
import type { Form } from "./form/form.ts";
import { fullParse, parseMarkdown } from "./parse/parse-markdown.ts";
import { parseSimple } from "./parse/parse-simple.ts";
import type { Piece } from "./pack/piece.ts";
import { resumedNodes } from "./scan/resume.ts";
import type { BlockNode } from "./scan/resume.ts";
import type { CodeText, MarkdownSegment, Segment } from "./scan/segment.ts";
import { weighLines } from "./scan/weigh-text.ts";
import type { Meter } from "./pack/meter.ts";

/** Quotes and lists in each other, deeper than a stack can follow: such a text is no document. */
const TOO_DEEP = /^[ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+){65}/m;
/**
 * How much of one reply the whole parser reads, as `weighLine` counts. What is longer, and no ordinary prose, list or
 * table, is no reply that anyone reads: it is shown as it was written.
 */
const MAX_PARSED_WEIGHT = 800_000;

/** A fenced block whose lines are still coming. */
interface OpenCode {
  readonly started: boolean;
  readonly blankLines: number;
}

/** Turns segments, in the order of the document, into pieces. Knows the definitions of the segments before. */
export class SegmentFlattener {
  readonly #form: Form;
  readonly #meter: Meter;
  #definitions = new Definitions();
  #code: OpenCode | undefined;
  #parsedWeight = 0;
  #isForked = false;

  constructor(form: Form, meter: Meter) {
    this.#form = form;
    this.#meter = meter;
  }

  /** A flattener that goes on from here without a trace in this one. */
  fork(): SegmentFlattener {
    const copy = new SegmentFlattener(this.#form.fork(), this.#meter);
    copy.#definitions = this.#definitions;
    copy.#code = this.#code;
    copy.#parsedWeight = this.#parsedWeight;
    copy.#isForked = true;
    return copy;
  }

  flatten(segment: Segment): Piece[] {
    switch (segment.kind) {
      case "markdown":
        this.#markdown(segment);
        break;
      case "code-start":
        this.#form.startCode(this.#languageOf(segment.openingLine));
        this.#code = { started: false, blankLines: 0 };
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
    return this.#form.take();
  }

  #markdown(segment: MarkdownSegment): void {
    if (segment.verbatim) return this.#form.verbatim(segment.source, segment);
    const root = TOO_DEEP.test(segment.source) ? undefined : this.#parse(segment);
    if (root === undefined) return this.#form.verbatim(segment.written.trimEnd(), segment);
    this.#form.write(root, segment, this.#definitions);
    if (!this.#isForked) this.#definitions.learn(segment.source, root);
  }

  /** Undefined past the bound. */
  #parse(segment: MarkdownSegment): Root | undefined {
    const { source } = segment;
    const simple = parseSimple(source);
    if (simple === undefined) {
      const weight = weighLines(source.split("\n"));
      this.#parsedWeight += weight;
      if (this.#parsedWeight > MAX_PARSED_WEIGHT) return undefined;
      this.#meter("parsed", weight);
    } else this.#meter("skimmed", source.length);
    const { targets } = this.#definitions;
    const root = simple ?? fullParse(source, targets);
    const written = withoutAdditions(segment, root);
    if (written === source) return root;
    this.#meter("parsed", weighLines(written.split("\n")));
    return parseMarkdown(written, targets);
  }

  #languageOf(openingLine: string): string | undefined {
    const [node] = parseMarkdown(openingLine, this.#definitions.targets).children;
    return node?.type === "code" && node.lang ? node.lang : undefined;
  }

  /** Blank lines wait for a line with text: those at the start and end of a block are layout. */
  #codeText({ text, newLine }: CodeText): void {
    const code = this.#code;
    if (code === undefined) return;
    if (newLine && text.trim() === "") {
      this.#code = { ...code, blankLines: code.blankLines + 1 };
      return;
    }
    const breaks = code.started && newLine ? "\n".repeat(code.blankLines + 1) : "";
    this.#code = { started: true, blankLines: 0 };
    this.#form.code(breaks + text);
  }
}

/** What was added so that formatting, a table or code goes on or ends is taken away where it does not. */
function withoutAdditions({ source, closers = "", continued }: MarkdownSegment, root: Root): string {
  const isClosed = closers === "" || !endsWith(root, closers);
  const written = isClosed ? source : source.slice(0, -closers.length);
  if (continued?.added === undefined) return written;
  const { at, length } = continued.added;
  const [first] = resumedNodes(root.children, continued.containers);
  const goesOn =
    continued.continues === undefined
      ? !beginsWith(first, source.slice(at, at + length))
      : first?.type === continued.continues;
  return goesOn ? written : written.slice(0, at) + written.slice(at + length);
}

function beginsWith(node: BlockNode | undefined, text: string): boolean {
  const [start] = node !== undefined && "children" in node ? node.children : [];
  return start?.type === "text" && start.value.startsWith(text);
}

function endsWith(node: Nodes, text: string): boolean {
  let last: Nodes | undefined = node;
  while (last !== undefined && "children" in last) last = last.children.at(-1);
  return last?.type === "text" && last.value.endsWith(text);
}
