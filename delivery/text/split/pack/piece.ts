import type { Block } from "./block.ts";

/**
 * Between markdown and a platform stands a flat stream of pieces: text with the marks that hold over it.
 * A mark is one object for the whole of what it covers, so that identity tells one bold run from the next.
 */
export type Mark =
  | { readonly kind: "bold" | "italic" | "strikethrough" | "code" | "quote" }
  | { readonly kind: "pre"; readonly language?: string }
  /** `display` is the text of a link that is written as its own address. */
  | { readonly kind: "link"; readonly url: string; readonly display?: string };

/** How good a cut at this separator is. A `weak` one stands after a heading, or between words. */
export type Separator = "block" | "line" | "weak";

export interface Piece {
  readonly text: string;
  /** Outermost first. */
  readonly marks: readonly Mark[];
  /** Set where the text stands between two blocks or lines and is dropped when the part is cut there. */
  readonly separator?: Separator;
  /** The number or bullet of an item, or the name of a value: no part ends with it. */
  readonly isLabel?: true;
  /** The blocks that the text stands in, outermost first; only for renderers with `blockCost`. */
  readonly blocks?: readonly Block[];
}

export const NO_MARKS: readonly Mark[] = [];

/** True inside a code block, where whitespace is content. */
export function isPreformatted(marks: readonly Mark[]): boolean {
  return marks.some((mark) => mark.kind === "pre");
}
