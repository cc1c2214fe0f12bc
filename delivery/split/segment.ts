/**
 * A stretch of the document that is closed: no text that is appended can change how it reads. Segments come in the
 * order of the document and are parsed each alone.
 */
export type Segment = MarkdownSegment | CodeStart | CodeText | CodeEnd;

export interface MarkdownSegment {
  readonly kind: "markdown";
  readonly source: string;
  /** The same as it was written, without what was added where a block was cut. */
  readonly written: string;
  /** The source is text whatever it looks like: the inside of an HTML block. */
  readonly verbatim: boolean;
  /** What stands between this segment and the one before it. */
  readonly join: Join;
  /** Number of the first item where the segment goes on with an ordered list. */
  readonly itemNumber?: number;
  /** Set where the segment goes on with a block that the segment before it began. */
  readonly continued?: Continued;
}

export interface Continued {
  /** Openers of the formatting that goes on; the source begins with them. */
  readonly reopen: string;
  /** The source belongs to a list item and stands in its column. */
  readonly insideItem: boolean;
  /** The source begins with the head of a table, which was shown before. */
  readonly continuesTable: boolean;
}

/** A blank line, a line break, a space or nothing. */
export type Join = "block" | "line" | "space" | "none";

/** A fenced block is handed on line by line, because its lines are final as soon as they are read. */
export interface CodeStart {
  readonly kind: "code-start";
  readonly openingLine: string;
}

export interface CodeText {
  readonly kind: "code-text";
  readonly text: string;
  /** False where a very long line is handed on in pieces. */
  readonly newLine: boolean;
}

export interface CodeEnd {
  readonly kind: "code-end";
}
