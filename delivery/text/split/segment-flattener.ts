import type { Nodes, Root } from "mdast";
import { Definitions } from "./parse/definitions.ts";
import type { Form } from "./form/form.ts";
import { parseMarkdown } from "./parse/parse-markdown.ts";
import { parseSimple } from "./parse/parse-simple.ts";
import { RecentTrees } from "./parse/recent-trees.ts";
import type { Piece } from "./pack/piece.ts";
import { resumedNodes } from "./scan/resume.ts";
import type { BlockNode } from "./scan/resume.ts";
import type { CodeText, MarkdownSegment, Segment } from "./scan/segment.ts";
import { weighLines } from "./scan/weigh-text.ts";
import type { Meter } from "./pack/meter.ts";

/** Quotes and lists nested so deeply that the parser's stack would overflow. No real document has them. */
const TOO_DEEP = /^[ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+){65}/m;
/**
 * Upper bound for the work of the full parser on one reply, in the unit of `weighLine`. A longer reply that is not
 * ordinary prose, lists or tables is not written for people. The rest of it is shown as it was written.
 */
const MAX_PARSED_WEIGHT = 800_000;

/** A fence with nothing but the name of a language, in which no markup can be. */
const PLAIN_FENCE = /^ {0,3}(?:`{3,}|~{3,})[ \t]*([\w+#.-]+)?[ \t]*$/;

/** A fenced block whose lines are still coming. */
interface OpenCode {
  readonly started: boolean;
  readonly blankLines: number;
}

/** Turns segments into pieces, in the order of the document. Resolves links by the definitions of earlier segments. */
export class SegmentFlattener {
  readonly #form: Form;
  readonly #meter: Meter;
  readonly #trees: RecentTrees;
  #definitions = new Definitions();
  #code: OpenCode | undefined;
  #parsedWeight = 0;
  #isForked = false;

  constructor(form: Form, meter: Meter, trees = new RecentTrees(meter)) {
    this.#form = form;
    this.#meter = meter;
    this.#trees = trees;
  }

  /** Returns a flattener that continues from here and leaves this one unchanged. */
  fork(): SegmentFlattener {
    const copy = new SegmentFlattener(this.#form.fork(), this.#meter, this.#trees);
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

  /** Parses a segment. Returns undefined when the reply has used up `MAX_PARSED_WEIGHT`. */
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
    const root = simple ?? this.#trees.of(source, targets);
    const written = withoutAdditions(segment, root);
    if (written === source) return root;
    this.#meter("parsed", weighLines(written.split("\n")));
    return parseSimple(written) ?? this.#trees.of(written, targets);
  }

  #languageOf(openingLine: string): string | undefined {
    const plain = PLAIN_FENCE.exec(openingLine);
    if (plain !== null) return plain[1];
    const [node] = parseMarkdown(openingLine, this.#definitions.targets).children;
    return node?.type === "code" && node.lang ? node.lang : undefined;
  }

  /**
   * Writes a line of code. Blank lines are kept back until a line with text follows: at the start and end of a block
   * they are layout.
   */
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

/**
 * Returns the source without the additions that had no effect: formatting, a table or code that in fact does not
 * continue here.
 */
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
