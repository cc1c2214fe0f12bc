/**
 * The splitter: cuts markdown that is still growing into the messages of a platform.
 *
 * The way of a text:
 * 1. `SegmentScanner` cuts it into segments at the borders of blocks.
 * 2. `SegmentFlattener` parses each segment and flattens it into pieces: text with marks.
 * 3. `Packer` fills parts with pieces and cuts full ones at a good place. A `Renderer` writes each part.
 * `OpenBlock` shows the block that is still being written, with its formatting closed for the moment.
 *
 * The splitter ends here. It makes no calls, keeps no rows and knows no platform: limits and renderer are given. The
 * delivery decides when a part is posted or edited.
 *
 * Invariants, which hold for every text and every way to cut it into chunks:
 * P1 The same text gives the same parts, however it arrives. `createPlanner` and `splitText` agree at every moment.
 * P2 A part marked `complete` never changes again, whatever text is appended.
 * P3 Every part is within the platform's limits and has something to see.
 * P4 After `finish` the parts have all words of the text once, in order and with their formatting.
 * P5 The work for a chunk does not grow with the text so far, and the work for a text grows in proportion to it.
 * P6 No text is refused: beyond a bound of the parser's work it is shown as it was written.
 */
import { OpenBlock } from "./open-block.ts";
import { createFlattener } from "./flattener.ts";
import { unmetered } from "./pack/meter.ts";
import { Packer } from "./pack/packer.ts";
import type { Part, PlannerOptions } from "./pack/part.ts";
import { SegmentScanner } from "./scan/scan-segments.ts";
import type { ScanBounds } from "./scan/scan-segments.ts";
import type { SegmentFlattener } from "./segment-flattener.ts";

/** Cuts a growing text into parts. At any moment the parts are those that `splitText` gives for the text so far. */
export interface Planner<Content> {
  append(delta: string): void;
  /** The parts of the text so far, as if it were still growing. After `finish`, the parts of the complete text. */
  parts(): readonly Part<Content>[];
  /** Ends the text. It may be called again; `append` throws afterwards. */
  finish(): void;
}

/** Largest weight of a block that is read as a whole. A heavier block is read in several segments. */
const BOUNDS: ScanBounds = { segmentWeight: 16_384, lineWeight: 8192 };

export function createPlanner<Content>(options: PlannerOptions<Content>): Planner<Content> {
  return new IncrementalPlanner(options);
}

class IncrementalPlanner<Content> implements Planner<Content> {
  readonly #packer: Packer<Content>;
  readonly #flattener: SegmentFlattener;
  readonly #scanner: SegmentScanner;
  /** The last line, which has not ended yet. */
  #line = "";
  /** The open block after the last closed segment. */
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
    if (this.#finished)
      throw new TypeError("append() was called after finish(): begin a new planner for the next text.");
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

/** Cuts text into lines. A carriage return at the end stays with the open line: it may be half of a line ending. */
function splitLines(text: string): string[] {
  return text.split(/\r\n|\n|\r(?!$)/);
}
