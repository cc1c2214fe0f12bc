import type { Container } from "./containers.ts";

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
  /** What was added at the end of the source to close formatting that is open there. */
  readonly closers?: string;
  /** What stands between this segment and the one before it. */
  readonly join: Join;
  /** Number of the first item where the segment goes on with an ordered list. */
  readonly itemNumber?: number;
  /** Set where the segment goes on with a block that the segment before it began. */
  readonly continued?: Continued;
}

export interface Continued {
  /** What it goes on in, outermost first. The source opens items and footnotes again, each with an empty heading. */
  readonly containers: readonly Container[];
  /** Where in the source openers of formatting stand that goes on, or what was shown before. */
  readonly added: { readonly at: number; readonly length: number } | undefined;
  /** Set where the text in the containers begins with the head of a table, or the opening of a fence, shown before. */
  readonly continues: "table" | "code" | undefined;
  /** The text before it ended a block, so that its own text begins one. */
  readonly startsBlock: boolean;
  /** Blank lines of code that are not shown yet. */
  readonly blankLines: number;
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
