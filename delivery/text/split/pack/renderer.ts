import type { Block } from "./block.ts";
import type { Mark, Piece } from "./piece.ts";

export interface MarkCost {
  /** What the mark adds to the length of a message, as the platform counts. */
  readonly length: number;
  readonly entities: number;
}

/**
 * What a platform makes of pieces. The costs are upper bounds: the sum over the pieces of a part is never less than
 * what the platform counts for `render` of them.
 */
export interface Renderer<Content> {
  /** The marks of `marks` that the platform shows at once, outermost first; the same objects. */
  effectiveMarks(marks: readonly Mark[]): readonly Mark[];
  /** At least the number of UTF-16 units of `text`. `marks` are effective ones. */
  textLength(text: string, marks: readonly Mark[]): number;
  /** Cost of a mark that begins (or begins again) inside `marks`, which are effective ones and hold it. */
  markCost(mark: Mark, marks: readonly Mark[]): MarkCost;
  /**
   * Cost of a block that begins, or begins again. Set where the platform shows headings, lists and tables itself: pieces
   * then name the blocks that they stand in, instead of looking like them.
   */
  readonly blockCost?: (block: Block) => MarkCost;
  /** Whether the platform can hide this address behind a text. Where not, the address is written out. */
  canLink(url: string): boolean;
  render(pieces: readonly Piece[]): Content;
}
