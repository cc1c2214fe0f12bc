import type { Packer } from "./pack/packer.ts";
import type { Part } from "./pack/part.ts";
import { holdBackLine, repairMarkdown } from "./scan/repair.ts";
import type { ScanBounds, SegmentScanner } from "./scan/scan-segments.ts";
import type { Segment } from "./scan/segment.ts";
import type { SegmentFlattener } from "./segment-flattener.ts";

/**
 * Largest weight of the end of an open block that is read again with every chunk. Earlier text of the block is read
 * once.
 */
const BOUNDS: ScanBounds = { segmentWeight: 3072, lineWeight: 3072 };

/**
 * Shows a block that is still open.
 *
 * Its early lines and sentences are read once and kept, cut as if they were segments. A chunk therefore costs no more
 * in a long block than in a short one. When the block is closed, the planner reads it as a whole and drops this object.
 */
export class OpenBlock<Content> {
  readonly #scanner: SegmentScanner;
  readonly #before: { readonly flattener: SegmentFlattener; readonly packer: Packer<Content> };
  #state: { readonly flattener: SegmentFlattener; readonly packer: Packer<Content> } | undefined;
  /** Lines that are read when `parts` is called. */
  #unread: string[] = [];
  readonly #segments: Segment[] = [];
  readonly #done: Part<Content>[] = [];
  /** The last line, without the pieces that were cut off. */
  #line = "";
  /** Length of the pieces that were cut off the last line. */
  #taken = 0;

  /** The arguments must be in the state in which the block began. */
  constructor(scanner: SegmentScanner, flattener: SegmentFlattener, packer: Packer<Content>) {
    this.#scanner = scanner.fork((segment) => this.#segments.push(segment), BOUNDS);
    this.#before = { flattener, packer };
  }

  /** Takes a line that has ended. */
  line(line: string): void {
    this.#unread.push(line);
  }

  /** Returns the parts as if the text ended with `line`: from the part that this block begins in to the end. */
  parts(line: string): readonly Part<Content>[] {
    for (const unread of this.#unread.splice(0)) {
      this.#scanner.line(unread.slice(this.#taken));
      this.#taken = 0;
    }
    this.#line = this.#scanner.longLine(line.slice(this.#taken));
    this.#taken = line.length - this.#line.length;
    // Neither changes before the block is closed.
    this.#state ??= { flattener: this.#before.flattener.fork(), packer: this.#before.packer.fork() };
    const { flattener, packer } = this.#state;
    for (const segment of this.#segments.splice(0)) packer.push(flattener.flatten(segment));
    for (const part of packer.done.slice(this.#done.length)) this.#done.push({ ...part, complete: false });
    return [...this.#done, ...this.#lastParts(flattener.fork(), packer.fork())];
  }

  #lastParts(flattener: SegmentFlattener, packer: Packer<Content>): readonly Part<Content>[] {
    const segments: Segment[] = [];
    const scanner = this.#scanner.fork((segment) => segments.push(segment));
    const line = holdBackLine(this.#line, scanner.openSource, scanner.insideFence);
    if (line !== "") scanner.line(line);
    scanner.end();
    for (const [index, segment] of segments.entries()) {
      packer.push(flattener.flatten(index === segments.length - 1 ? repaired(segment) : segment));
    }
    packer.end();
    return packer.done.map((part) => ({ ...part, complete: false }));
  }
}

function repaired(segment: Segment): Segment {
  if (segment.kind !== "markdown" || segment.verbatim) return segment;
  const { source, closers } = repairMarkdown(segment.source);
  return { ...segment, source, closers };
}
