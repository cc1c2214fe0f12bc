import { Packer } from "./packer.ts";
import type { Part, PlannerOptions } from "./part.ts";
import { SegmentFlattener } from "./segment-flattener.ts";
import { SegmentScanner } from "./scan-segments.ts";
import { holdBackLine, repairMarkdown } from "./repair.ts";
import type { Segment } from "./segment.ts";

/** Parts of a text that grows. At any moment they are the parts that `splitText` gives for the text so far. */
export interface Planner<Content> {
  append(delta: string): void;
  /** The parts of the text so far, as if it were still growing, or of the whole text after `finish`. */
  parts(): readonly Part<Content>[];
  /** The text is whole. Nothing may be appended after it. */
  finish(): void;
}

export function createPlanner<Content>(options: PlannerOptions<Content>): Planner<Content> {
  return new IncrementalPlanner(options);
}

class IncrementalPlanner<Content> implements Planner<Content> {
  readonly #packer: Packer<Content>;
  readonly #flattener: SegmentFlattener;
  readonly #scanner: SegmentScanner;
  /** The last line, which is not ended yet. */
  #line = "";
  #finished = false;

  constructor(options: PlannerOptions<Content>) {
    this.#packer = new Packer(options.renderer, options.limits);
    this.#flattener = new SegmentFlattener({
      canLink: (url) => options.renderer.canLink(url),
      tableWidth: options.tableWidth ?? 40,
    });
    this.#scanner = new SegmentScanner((segment) => {
      this.#packer.push(this.#flattener.flatten(segment));
    });
  }

  append(delta: string): void {
    if (this.#finished) throw new TypeError("append was called after finish: begin a new planner.");
    const lines = splitLines(this.#line + delta);
    const open = lines.pop() ?? "";
    for (const line of lines) this.#scanner.line(line);
    this.#line = this.#scanner.longLine(open);
  }

  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    if (this.#line !== "") this.#scanner.line(this.#line.replace(/\r$/, ""));
    this.#scanner.end();
    this.#packer.end();
  }

  parts(): readonly Part<Content>[] {
    if (this.#finished) return this.#packer.done;
    const open = this.#packer.preview(this.#openPieces()).map((part) => ({ ...part, complete: false }));
    return [...this.#packer.done, ...open];
  }

  #openPieces(): ReturnType<SegmentFlattener["flatten"]> {
    const segments: Segment[] = [];
    const scanner = this.#scanner.fork((segment) => segments.push(segment));
    const line = holdBackLine(this.#line, scanner.openSource, scanner.insideFence);
    if (line !== "") scanner.line(line);
    scanner.end();
    const flattener = this.#flattener.fork();
    return segments.flatMap((segment, index) =>
      flattener.flatten(
        segment.kind === "markdown" && !segment.verbatim && index === segments.length - 1
          ? { ...segment, source: repairMarkdown(segment.source).source }
          : segment,
      ),
    );
  }
}

/** A carriage return at the end may be half of a line ending and stays with the open line. */
function splitLines(text: string): string[] {
  return text.split(/\r\n|\n|\r(?!$)/);
}
