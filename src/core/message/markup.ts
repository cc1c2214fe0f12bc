/**
 * Formatting over a stretch of text. A mark is one object for everything it covers, so that identity tells one bold run
 * from the next.
 */
export type TextMark =
  | { readonly kind: "bold" | "italic" | "strikethrough" | "code" | "quote" }
  | { readonly kind: "pre"; readonly language?: string }
  /** `display` is set if the text of the link is its own address. */
  | { readonly kind: "link"; readonly url: string; readonly display?: string };

/**
 * The markup of a platform: how formatting is written into a text. A surface has it as its `format`.
 *
 * Every function is pure, and no result is shorter than the text it is made of.
 */
export interface Markup {
  /**
   * Escapes text, so that the platform shows it as it is.
   *
   * @param isLineStart whether the text begins a line. The result is longest if it does.
   */
  escape(text: string, isLineStart: boolean): string;
  /** Escapes text inside code. */
  escapeCode(text: string): string;
  open(mark: TextMark): string;
  close(mark: TextMark): string;
  /** Whether the platform can hide this address behind a text. Other addresses are written out. */
  canLink(url: string): boolean;
  /** Whether `escape` escapes backticks. Code that contains a backtick is then written as text. @default false */
  readonly escapesBackticks?: boolean;
  /**
   * Whether the platform does not recognize formatting that begins or ends inside a word. It is left out.
   * @default false
   */
  readonly needsBorders?: boolean;
  /** How the platform's own lists are written, if it has any. @default with characters that look like bullets */
  readonly lists?: ListSigns;
  /**
   * The blocks of Markdown that the platform shows itself. Undefined: blocks become text that looks like them, such as
   * lines with bullets.
   */
  readonly blocks?: MarkdownBlocks;
}

/** Signs of bulleted lists. */
export interface ListSigns {
  readonly bullet: string;
  /** Stands in front of the lines of a list in a list, once for each list around it. */
  readonly indent: string;
}

/** Blocks of Markdown that a platform shows itself, beside paragraphs, lists in lists, quotes and code. */
export interface MarkdownBlocks {
  /** Deepest level of headings. Deeper ones are bold. */
  readonly headings: number;
  /** If not, tables are aligned in a code block, or become lines. */
  readonly tables: boolean;
  /** Lists with boxes to tick. If not, the boxes are characters. */
  readonly tasks: boolean;
  /** Lines across the text. If not, they are characters. */
  readonly dividers: boolean;
}
