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
import type { Join, Segment } from "./segment.ts";

/**
 * What the open segment ends with, as far as it decides where the next one begins. A boundary is claimed only where it
 * is certain; two blocks in one segment do no harm, because the segment is parsed as a document of its own.
 */
type Open =
  | { readonly kind: "none" | "paragraph" | "quote" | "indented" | "footnote" }
  | { readonly kind: "html"; readonly until: RegExp | "blank" }
  | { readonly kind: "list"; readonly marker: ListMarker; readonly number: number }
  | { readonly kind: "fence"; readonly fence: Fence };

const CODE_INDENT = 4;
const NONE: Open = { kind: "none" };

/** Cuts a growing document into segments at the borders of its top-level blocks and list items, a line at a time. */
export class SegmentScanner {
  readonly #emit: (segment: Segment) => void;
  #open: Open = NONE;
  #lines: string[] = [];
  #join: Join = "block";
  #itemNumber: number | undefined;
  #afterBlank = false;

  constructor(emit: (segment: Segment) => void) {
    this.#emit = emit;
  }

  /** A scanner in the same state that reports elsewhere; what it reads does not touch this one. */
  fork(emit: (segment: Segment) => void): SegmentScanner {
    const copy = new SegmentScanner(emit);
    copy.#open = this.#open;
    copy.#lines = [...this.#lines];
    copy.#join = this.#join;
    copy.#itemNumber = this.#itemNumber;
    copy.#afterBlank = this.#afterBlank;
    return copy;
  }

  /** True inside a fenced block, where a line is text whatever it looks like. */
  get insideFence(): boolean {
    return this.#open.kind === "fence";
  }

  /** The lines of the open segment. */
  get openSource(): string {
    return this.#lines.join("\n");
  }

  /** Takes one whole line, without its line ending. */
  line(line: string): void {
    if (this.#open.kind === "fence") return this.#fenceLine(line, this.#open.fence);
    if (isBlank(line)) return this.#blankLine(line);
    this.#startLine(line);
    this.#afterBlank = false;
  }

  /** Ends the document: everything that is open is closed. */
  end(): void {
    if (this.#open.kind === "fence") this.#emit({ kind: "code-end" });
    this.#close();
    this.#open = NONE;
  }

  #fenceLine(line: string, fence: Fence): void {
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
    if (this.#lines.length > 0) this.#lines.push(line);
  }

  #startLine(line: string): void {
    const open = this.#open;
    if (open.kind === "html" && open.until !== "blank") {
      this.#lines.push(line);
      if (open.until.test(line)) this.#open = NONE;
      return;
    }
    if (open.kind === "html") return void this.#lines.push(line);
    if (this.#continues(line, open)) return void this.#lines.push(line);
    const marker = parseListMarker(line);
    if (open.kind === "list" && marker !== undefined && marker.kind === open.marker.kind) {
      return this.#nextItem(line, open.number + 1, marker);
    }
    if (this.#interrupts(line, open, marker)) this.#boundary("block");
    this.#append(line, marker);
  }

  /** Whether the line belongs to the open container by its indentation. */
  #continues(line: string, open: Open): boolean {
    const indent = indentOf(line);
    if (open.kind === "list") {
      return indent >= open.marker.contentColumn && !(open.marker.empty && this.#hasOnlyMarker());
    }
    return (open.kind === "indented" || open.kind === "footnote") && indent >= CODE_INDENT;
  }

  /** An item that begins with a blank line holds nothing after a second one. */
  #hasOnlyMarker(): boolean {
    return this.#afterBlank && this.#lines.slice(1).every((line) => isBlank(line));
  }

  /** Whether the line certainly begins a new top-level block. */
  #interrupts(line: string, open: Open, marker: ListMarker | undefined): boolean {
    if (this.#afterBlank || open.kind === "none") return true;
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
    this.#lines.push(line);
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
    this.#boundary(this.#afterBlank ? "block" : "item");
    this.#lines.push(line);
    this.#itemNumber = marker.number === undefined ? undefined : number;
    this.#open = { kind: "list", marker, number };
  }

  #boundary(join: Join): void {
    this.#close();
    this.#join = join;
    this.#open = NONE;
  }

  #close(): void {
    const source = this.#lines.join("\n");
    this.#lines = [];
    if (!isBlank(source)) {
      const itemNumber = this.#itemNumber;
      this.#emit({
        kind: "markdown",
        source,
        join: this.#join,
        ...(itemNumber === undefined ? {} : { itemNumber }),
      });
    }
    this.#itemNumber = undefined;
    this.#join = "block";
  }
}

function stripIndent(line: string, indent: number): string {
  let strip = 0;
  while (strip < indent && line.charAt(strip) === " ") strip += 1;
  return line.slice(strip);
}
