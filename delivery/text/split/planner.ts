import { OpenBlock } from "./open-block.ts";
import { createFlattener } from "./flattener.ts";
import { unmetered } from "./pack/meter.ts";
import { Packer } from "./pack/packer.ts";
import type { Part, PlannerOptions } from "./pack/part.ts";
import { SegmentScanner } from "./scan/scan-segments.ts";
import type { ScanBounds } from "./scan/scan-segments.ts";
import type { SegmentFlattener } from "./segment-flattener.ts";

/** Parts of a text that grows. At any moment they are the parts that `splitText` gives for the text so far. */
export interface Planner<Content> {
  append(delta: string): void;
  /** The parts of the text so far, as if it were still growing, or of the whole text after `finish`. */
  parts(): readonly Part<Content>[];
  /** The text is whole. Nothing may be appended after it. */
  finish(): void;
}

/** A block heavier than this is read in pieces also when it is whole. */
const BOUNDS: ScanBounds = { segmentWeight: 16_384, lineWeight: 8192 };

export function createPlanner<Content>(options: PlannerOptions<Content>): Planner<Content> {
  return new IncrementalPlanner(options);
}

class IncrementalPlanner<Content> implements Planner<Content> {
  readonly #packer: Packer<Content>;
  readonly #flattener: SegmentFlattener;
  readonly #scanner: SegmentScanner;
  /** The last line, which is not ended yet. */
  #line = "";
  /** The block that is open, since the last segment that was closed. */
  #open: OpenBlock<Content> | undefined;
  #finished = false;

  constructor(options: PlannerOptions<Content>) {
    const meter = options.meter ?? unmetered;
    this.#packer = new Packer(options.renderer, options.limits, meter);
    this.#flattener = createFlattener(options, meter);
    this.#scanner = new SegmentScanner(
      (segment) => {
        this.#packer.push(this.#flattener.flatten(segment));
        this.#open = undefined;
      },
      BOUNDS,
      meter,
    );
  }

  append(delta: string): void {
    if (this.#finished) throw new TypeError("append was called after finish: begin a new planner.");
    const lines = splitLines(this.#line + delta);
    const open = lines.pop() ?? "";
    for (const line of lines) this.#take(line);
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
    return [...this.#packer.done, ...this.#openBlock().parts(this.#line)];
  }

  #take(line: string): void {
    const open = this.#scanner.insideFence ? undefined : this.#openBlock();
    this.#scanner.line(line);
    if (this.#open !== undefined) open?.line(line);
  }

  #openBlock(): OpenBlock<Content> {
    this.#open ??= new OpenBlock(this.#scanner, this.#flattener, this.#packer);
    return this.#open;
  }
}

/** A carriage return at the end may be half of a line ending and stays with the open line. */
function splitLines(text: string): string[] {
  return text.split(/\r\n|\n|\r(?!$)/);
}
