import {
  closesFence,
  indentOf,
  isBlank,
  isFootnoteDefinition,
  isHeading,
  isQuote,
  isSetextUnderline,
  isThematicBreak,
  parseFence,
  parseHtmlStart,
  parseListMarker,
} from "./line.ts";
import type { Fence, ListMarker } from "./line.ts";
import type { Carry } from "./continuation.ts";
import { prefixOf } from "./containers.ts";
import { carryOverBlank, escapeLineStart, splitLines, textStart } from "./continuation.ts";
import { cutLongLine } from "./cut-line.ts";
import type { Meter } from "../pack/meter.ts";
import type { Continued, Join, Segment } from "./segment.ts";
import { isSimpleRow, lengthOfWeight, weighLine, weighLines, weighSimpleRow } from "./weigh-text.ts";

/**
 * The block at the end of the open segment, as far as it decides where the next segment begins.
 *
 * The scanner sets a boundary only where it is certain. Two blocks in one segment do no harm, because the segment is
 * parsed as a document.
 */
type Open =
  | { readonly kind: "none" | "paragraph" | "quote" | "indented" | "footnote" }
  | { readonly kind: "html"; readonly until: RegExp | "blank" }
  | { readonly kind: "list"; readonly marker: ListMarker; readonly number: number }
  | { readonly kind: "fence"; readonly fence: Fence };

/** Largest weight of a block and of a line. Heavier ones are cut, which limits the work for each chunk of text. */
export interface ScanBounds {
  readonly segmentWeight: number;
  readonly lineWeight: number;
}

const CODE_INDENT = 4;
const QUOTED_BLANK = /^[ \t>]*$/;
const NONE: Open = { kind: "none" };

/**
 * Cuts a growing document into segments, line by line. The cuts are between top-level blocks and between list items.
 */
export class SegmentScanner {
  readonly #emit: (segment: Segment) => void;
  readonly #bounds: ScanBounds;
  readonly #meter: Meter;
  #open: Open = NONE;
  #lines: string[] = [];
  #join: Join = "block";
  #itemNumber: number | undefined;
  #afterBlank = false;
  #weight = 0;
  /** True if the open segment has only table rows that `parseSimple` can read. */
  #isSimpleTable = false;
  /** Set while the segment continues a block that was cut. */
  #carry: Carry | undefined;
  /** Lines from this column on move right by this much, because they are meant to be inside the open item. */
  #nested: { readonly column: number; readonly by: number } | undefined;
  /** Text before the rest of a line that was cut: quote markers, and the indentation of items. */
  #middleOfLine: string | undefined;

  constructor(emit: (segment: Segment) => void, bounds: ScanBounds, meter: Meter) {
    this.#emit = emit;
    this.#bounds = bounds;
    this.#meter = meter;
  }

  /** Returns a scanner in the same state that reports to `emit` and leaves this one unchanged. */
  fork(emit: (segment: Segment) => void, bounds = this.#bounds): SegmentScanner {
    const copy = new SegmentScanner(emit, bounds, this.#meter);
    copy.#open = this.#open;
    copy.#lines = [...this.#lines];
    copy.#join = this.#join;
    copy.#itemNumber = this.#itemNumber;
    copy.#afterBlank = this.#afterBlank;
    copy.#weight = this.#weight;
    copy.#isSimpleTable = this.#isSimpleTable;
    copy.#carry = this.#carry;
    copy.#nested = this.#nested;
    copy.#middleOfLine = this.#middleOfLine;
    copy.#keepBounds();
    return copy;
  }

  /** True inside a fenced block, where every line is plain text. */
  get insideFence(): boolean {
    return this.#open.kind === "fence";
  }

  /** The source of the open segment. */
  get openSource(): string {
    this.#meter("scanned", this.#weight);
    return this.#source().text;
  }

  /**
   * Takes the first pieces of an unfinished line, if it is long enough to be cut, and returns the rest. A carriage
   * return at the end does not count: it may be the first half of a line ending.
   */
  longLine(line: string): string {
    let rest = line;
    for (;;) {
      const text = rest.endsWith("\r") ? rest.slice(0, -1) : rest;
      const limit = lengthOfWeight(text, this.#bounds.lineWeight);
      this.#meter("scanned", limit ?? text.length);
      if (limit === undefined) return rest;
      const cut = cutLongLine(rest, limit);
      this.#lineHead(rest.slice(0, cut));
      rest = rest.slice(cut);
    }
  }

  /** Takes a complete line, or the rest of one, without its line ending. */
  line(line: string): void {
    this.#wholeLine(this.longLine(line));
    if (this.#middleOfLine !== undefined && this.#lines.length === 0) this.#join = "line";
    this.#middleOfLine = undefined;
    this.#keepBounds();
  }

  #keepBounds(): void {
    for (let before = Infinity; this.#weight > this.#bounds.segmentWeight && this.#weight < before;) {
      before = this.#weight;
      this.#split(false);
    }
  }

  /** Ends the document and closes everything that is open. */
  end(): void {
    if (this.#open.kind === "fence") this.#emit({ kind: "code-end" });
    this.#close();
    this.#open = NONE;
  }

  #wholeLine(line: string): void {
    const middle = this.#middleOfLine;
    if (this.#open.kind === "fence") return this.#fenceLine(line, this.#open.fence);
    if (middle !== undefined) return this.#goOnWithLine(line, middle);
    if (isBlank(line)) return this.#blankLine(line);
    this.#startLine(line);
    this.#afterBlank = false;
  }

  #lineHead(text: string): void {
    this.#wholeLine(text);
    if (this.#open.kind !== "fence") {
      this.#split(true);
      this.#join = /\s$/.test(text) ? "space" : "none";
    }
    this.#middleOfLine ??= prefixOf(this.#carry?.position.containers ?? []);
  }

  #goOnWithLine(text: string, before: string): void {
    if (this.#open.kind === "html") {
      this.#push(text);
      if (this.#open.until !== "blank" && this.#open.until.test(text)) this.#open = NONE;
    } else if (this.#carry?.verbatim === true) {
      this.#push(text);
    } else if (this.#carry?.continues === "code") {
      this.#push(before + text);
    } else if (text.trim() !== "") {
      this.#push(before + escapeLineStart(text));
    }
  }

  #push(line: string): void {
    const isCode = this.#carry?.continues === "code";
    if (this.#lines.length === 0 && !isCode && QUOTED_BLANK.test(line)) this.#blankAfterCut();
    this.#lines.push(line);
    this.#weigh(line);
  }

  /**
   * Adds the weight of the line that was pushed last. The first row that is not simple makes all rows of the table
   * heavy.
   */
  #weigh(line: string): void {
    const wasSimple = this.#lines.length === 1 || this.#isSimpleTable;
    this.#isSimpleTable = wasSimple && isSimpleRow(line);
    if (this.#isSimpleTable) this.#weight += weighSimpleRow(line);
    else if (wasSimple) this.#weight = weighLines(this.#lines);
    else this.#weight += weighLine(line);
  }

  /** Reports the text of the open block so far. The block continues in the next segment. */
  #split(atEnd: boolean): void {
    const open = this.#open;
    if (this.#lines.length === 0) return;
    this.#meter("scanned", this.#weight);
    const { source, closers, rest, afterBlank, carry } = splitLines(this.#source().lines, {
      atEnd,
      verbatim: open.kind === "html" || this.#carry?.verbatim === true,
      before: this.#carry,
      firstNumber: this.#itemNumber,
    });
    if (rest.length === this.#lines.length) return;
    this.#emitSource(source, this.#lines.slice(0, this.#lines.length - rest.length), closers);
    this.#carry = carry;
    this.#lines = [...rest];
    this.#isSimpleTable = false;
    this.#weight = weighLines(this.#lines);
    this.#join = afterBlank ? "block" : "line";
    if (open.kind === "list") this.#open = { ...open, marker: { ...open.marker, empty: false } };
  }

  #fenceLine(line: string, fence: Fence): void {
    if (this.#middleOfLine !== undefined) {
      this.#emit({ kind: "code-text", text: line, newLine: false });
      return;
    }
    if (closesFence(line, fence)) {
      this.#emit({ kind: "code-end" });
      this.#open = NONE;
      this.#join = "block";
      return;
    }
    this.#emit({ kind: "code-text", text: stripIndent(line, fence.indent), newLine: true });
  }

  #blankLine(line: string): void {
    this.#afterBlank = true;
    if (this.#open.kind === "html" && this.#open.until === "blank") this.#open = NONE;
    if (this.#lines.length > 0) this.#push(line);
    else this.#blankAfterCut();
  }

  #blankAfterCut(): void {
    if (this.#carry === undefined) return;
    this.#carry = carryOverBlank(this.#carry);
    this.#join = "block";
  }

  #startLine(line: string): void {
    const open = this.#open;
    if (open.kind === "html" && open.until !== "blank") {
      this.#push(line);
      if (open.until.test(line)) this.#open = NONE;
      return;
    }
    if (open.kind === "html") return this.#push(line);
    const nested = this.#nestedLine(line, open);
    if (nested !== undefined) return this.#push(nested);
    if (this.#continues(line, open)) return this.#push(line);
    const marker = parseListMarker(line);
    if (open.kind === "list" && marker !== undefined && marker.kind === open.marker.kind) {
      return this.#nextItem(line, open.number + stepTo(marker, open.marker), marker);
    }
    if (this.#interrupts(line, open, marker)) this.#boundary("block");
    this.#append(line, marker);
  }

  /**
   * Indents a line that is meant to be in the open item, but is not indented far enough. Models indent below `10.` as
   * below `9.`, and by two columns below numbers that need three. Returns undefined for any other line.
   */
  #nestedLine(line: string, open: Open): string | undefined {
    const indent = indentOf(line);
    if (open.kind !== "list" || open.marker.number === undefined || indent < open.marker.column + 2)
      return undefined;
    if (this.#nested === undefined || indent < this.#nested.column) {
      const marker = parseListMarker(line);
      if (marker === undefined || marker.empty || indent >= open.marker.contentColumn) return undefined;
      if (marker.number !== undefined && marker.number !== 1) return undefined;
      this.#nested = { column: indent, by: open.marker.contentColumn - indent };
    }
    return " ".repeat(indent + this.#nested.by) + line.trimStart();
  }

  /** True if the line's indentation puts it in the open container. */
  #continues(line: string, open: Open): boolean {
    const indent = indentOf(line);
    if (open.kind === "list") {
      return indent >= open.marker.contentColumn && !(open.marker.empty && this.#hasOnlyMarker());
    }
    return (open.kind === "indented" || open.kind === "footnote") && indent >= CODE_INDENT;
  }

  /** True if the item began with a blank line and another one follows. Such an item is empty. */
  #hasOnlyMarker(): boolean {
    return this.#afterBlank && this.#lines.slice(1).every((line) => isBlank(line));
  }

  /** True if the line certainly begins a new top-level block. */
  #interrupts(line: string, open: Open, marker: ListMarker | undefined): boolean {
    if (this.#afterBlank || open.kind === "none" || open.kind === "indented") return true;
    if (isSetextUnderline(line) && open.kind === "paragraph") return false;
    if (isHeading(line) || isThematicBreak(line) || parseFence(line) !== undefined) return true;
    if (marker !== undefined) {
      return !marker.empty && (marker.number === undefined || marker.number === 1);
    }
    return isQuote(line) && open.kind !== "quote";
  }

  #append(line: string, marker: ListMarker | undefined): void {
    const fence = parseFence(line);
    if (fence !== undefined) {
      this.#close();
      this.#emit({ kind: "code-start", openingLine: line });
      this.#open = { kind: "fence", fence };
      return;
    }
    const previous = this.#open;
    const begins = this.#lines.length === 0;
    this.#push(line);
    if (isHeading(line) || isThematicBreak(line)) {
      this.#open = NONE;
      return;
    }
    if (previous.kind === "paragraph" && !begins && isSetextUnderline(line)) {
      this.#open = NONE;
      return;
    }
    const html = parseHtmlStart(line, !begins && previous.kind !== "none");
    if (html !== undefined) {
      this.#open =
        html.until !== "blank" && html.until.test(line) ? NONE : { kind: "html", until: html.until };
      return;
    }
    if (!begins) return;
    if (marker !== undefined) this.#open = { kind: "list", marker, number: marker.number ?? 0 };
    else if (isQuote(line)) this.#open = { kind: "quote" };
    else if (isFootnoteDefinition(line)) this.#open = { kind: "footnote" };
    else if (indentOf(line) >= CODE_INDENT) this.#open = { kind: "indented" };
    else this.#open = { kind: "paragraph" };
  }

  #nextItem(line: string, number: number, marker: ListMarker): void {
    this.#boundary(this.#afterBlank ? "block" : "line");
    this.#push(line);
    this.#itemNumber = marker.number === undefined ? undefined : number;
    this.#open = { kind: "list", marker, number };
  }

  #boundary(join: Join): void {
    this.#close();
    this.#join = join;
    this.#open = NONE;
  }

  #close(): void {
    this.#emitSource(this.#source().text, this.#lines);
    this.#lines = [];
    this.#weight = 0;
    this.#carry = undefined;
    this.#nested = undefined;
    this.#join = "block";
  }

  #emitSource(source: string, written: readonly string[], closers = ""): void {
    const itemNumber = this.#itemNumber;
    this.#itemNumber = undefined;
    if (this.#lines.length === 0 || isBlank(source)) return;
    const continued = this.#continued();
    this.#emit({
      kind: "markdown",
      source,
      closers,
      written: written.join("\n"),
      verbatim: this.#carry?.verbatim ?? false,
      join: this.#join,
      ...(itemNumber === undefined ? {} : { itemNumber }),
      ...(continued === undefined ? {} : { continued }),
    });
  }

  #continued(): Continued | undefined {
    const carry = this.#carry;
    if (carry === undefined) return undefined;
    const { position, continues, blankLines } = carry;
    const { containers, endsBlock } = position;
    return { containers, continues, blankLines, startsBlock: endsBlock, added: this.#source().added };
  }

  /** Returns the open segment together with the lines and openers carried over from a cut before it. */
  #source(): Source {
    const carry = this.#carry;
    const [first = "", ...rest] = this.#lines;
    if (carry === undefined || this.#lines.length === 0)
      return { lines: this.#lines, text: this.#lines.join("\n"), added: undefined };
    const { again, heads, reopen } = carry;
    const start = reopen === "" ? undefined : textStart(first);
    const line = start === undefined ? first : first.slice(0, start) + reopen + first.slice(start);
    const lines = [...again, ...heads, line, ...rest];
    const at = lengthOf(again);
    let added: Continued["added"];
    if (heads.length > 0) added = { at, length: lengthOf(heads) };
    else if (start !== undefined) added = { at: at + start, length: reopen.length };
    return { lines, text: lines.join("\n"), added };
  }
}

interface Source {
  readonly lines: readonly string[];
  readonly text: string;
  readonly added: Continued["added"];
}

/** Length of the lines, with a line break after each. */
function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

/** Next number of a list. Items are counted, whatever numbers they have, but a list may count down. */
function stepTo(marker: ListMarker, before: ListMarker): 1 | -1 {
  return marker.number !== undefined && marker.number + 1 === before.number ? -1 : 1;
}

function stripIndent(line: string, indent: number): string {
  let strip = 0;
  while (strip < indent && line.charAt(strip) === " ") strip += 1;
  return line.slice(strip);
}
