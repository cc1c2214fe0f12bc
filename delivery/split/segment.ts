/**
 * A stretch of the document that is closed: no text that is appended can change how it reads. Segments come in the
 * order of the document and are parsed each alone.
 */
export type Segment = MarkdownSegment | CodeStart | CodeText | CodeEnd;

export interface MarkdownSegment {
  readonly kind: "markdown";
  readonly source: string;
  /** What stands between this segment and the one before it. */
  readonly join: Join;
  /** Number of the first item where the segment goes on with an ordered list. */
  readonly itemNumber?: number;
}

/** `item`: the next item of a list, no blank line between. `inside`: the same paragraph or item goes on. */
export type Join = "block" | "item" | "inside";

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
