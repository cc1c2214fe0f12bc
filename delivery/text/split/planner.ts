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
 * P1 The same text gives the same parts, however it arrives. `Planner` and `splitText` agree at every moment.
 * P2 A part marked `complete` never changes again, whatever text is appended.
 * P3 Every part is within the platform's limits and has something to see.
 * P4 After `finish` the parts have all words of the text once, in order and with their formatting.
 * P5 The work for a chunk does not grow with the text so far, and the work for a text grows in proportion to it.
 * P6 No text is refused: beyond a bound of the parser's work it is shown as it was written.
 */
import { OpenBlock } from "./open-block.ts";
import { BlockForm } from "./blocks/block-form.ts";
import { TextForm } from "./form/text-form.ts";
import { unmetered } from "./pack/meter.ts";
import { Packer } from "./pack/packer.ts";
import type { Part, PlannerOptions, SplitOptions } from "./pack/part.ts";
import { SegmentScanner, type ScanBounds } from "./scan/scan-segments.ts";
import { SegmentFlattener } from "./segment-flattener.ts";

/** Largest weight of a block that is read as a whole. A heavier block is read in several segments. */
const BOUNDS: ScanBounds = { segmentWeight: 16_384, lineWeight: 8192 };

/** Cuts a growing text into parts. At any moment the parts are those that `splitText` gives for the text so far. */
export class Planner<Content> {
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
    const { renderer, tableWidth = 40 } = options;
    const { lists } = renderer;
    const looks = { canLink: (url: string): boolean => renderer.canLink(url), lists, tableWidth };
    // If the platform shows blocks itself, pieces name their blocks. Otherwise the text looks like them.
    const form =
      renderer.blockCost === undefined ? new TextForm(looks) : new BlockForm(looks, renderer.knows);
    this.#flattener = new SegmentFlattener(form, meter);
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

  /** Ends the text. It may be called again; `append` throws afterwards. */
  finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    if (this.#line !== "") this.#scanner.line(this.#line.replace(/\r$/, ""));
    this.#scanner.end();
    this.#packer.end();
  }

  /** The parts of the text so far, as if it were still growing. After `finish`, the parts of the complete text. */
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

/**
 * Cuts markdown into the messages of a platform. Pure: the same text gives the same parts.
 *
 * @example
 * const parts = splitText("# Hello\n\n*world*", {
 *   renderer: telegramEntities,
 *   limits: { maxLength: 4096, maxEntities: 100 },
 *   final: true,
 * });
 */
export function splitText<Content>(
  markdown: string,
  options: SplitOptions<Content>,
): readonly Part<Content>[] {
  const planner = new Planner(options);
  planner.append(markdown);
  if (options.final) planner.finish();
  return planner.parts();
}

/** Cuts text into lines. A carriage return at the end stays with the open line: it may be half of a line ending. */
function splitLines(text: string): string[] {
  return text.split(/\r\n|\n|\r(?!$)/);
}
