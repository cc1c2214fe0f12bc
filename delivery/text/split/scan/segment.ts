import type { Container } from "./containers.ts";

/**
 * A closed stretch of the document: no appended text can change how it reads. Segments come in the order of the
 * document, and each is parsed alone.
 */
export type Segment = MarkdownSegment | CodeStart | CodeText | CodeEnd;

export interface MarkdownSegment {
  readonly kind: "markdown";
  readonly source: string;
  /** The source as the model wrote it, without the additions made where a block was cut. */
  readonly written: string;
  /** True if the source is plain text, even if it looks like markdown: the inside of an HTML block. */
  readonly verbatim: boolean;
  /** Closers of formatting, added at the end of the source. */
  readonly closers?: string;
  /** The space between this segment and the one before it. */
  readonly join: Join;
  /** Number of the first item, if the segment continues an ordered list. */
  readonly itemNumber?: number;
  /** Set if the segment continues a block that an earlier segment began. */
  readonly continued?: Continued;
}

export interface Continued {
  /**
   * The containers that continue, outermost first. The source opens items and footnotes again, each with an empty
   * heading.
   */
  readonly containers: readonly Container[];
  /**
   * The stretch of the source that was added: openers of formatting that continues, or lines that were shown before.
   */
  readonly added: { readonly at: number; readonly length: number } | undefined;
  /** Set if the text in the containers begins with a repeated table head or a repeated code fence. */
  readonly continues: "table" | "code" | undefined;
  /** True if the earlier text ended a block, so that this text begins a new one. */
  readonly startsBlock: boolean;
  /** Blank lines of code that are not shown yet. */
  readonly blankLines: number;
}

/** The space between two segments: a blank line, a line break, a space or nothing. */
export type Join = "block" | "line" | "space" | "none";

/**
 * Start of a fenced block. A fenced block is passed on line by line, because its lines are final as soon as they are
 * read.
 */
export interface CodeStart {
  readonly kind: "code-start";
  readonly openingLine: string;
}

export interface CodeText {
  readonly kind: "code-text";
  readonly text: string;
  /** False if this is the rest of a very long line that was cut. */
  readonly newLine: boolean;
}

export interface CodeEnd {
  readonly kind: "code-end";
}
