import type { ListSigns, MarkdownBlocks } from "../../../../src/core/message/markup.ts";
import type { Block } from "./block.ts";
import type { Mark, Piece } from "./piece.ts";

export interface MarkCost {
  /** Length that the mark adds to a message, counted as the platform counts. */
  readonly length: number;
  readonly entities: number;
}

/**
 * Turns pieces into a message of a platform.
 *
 * Costs are upper bounds: the sum over the pieces of a part is never less than the platform counts for the rendered
 * part.
 */
export interface Renderer<Content> {
  /** Returns those of `marks` that the platform can show together, outermost first. They are the same objects. */
  effectiveMarks(marks: readonly Mark[]): readonly Mark[];
  /** Length of `text` inside `blocks`, which may count as longer than it is. `marks` are effective ones. */
  textLength(text: string, marks: readonly Mark[], blocks: readonly Block[]): number;
  /** Cost of a mark that begins, or begins again, inside `marks`. `marks` are effective ones and contain `mark`. */
  markCost(mark: Mark, marks: readonly Mark[]): MarkCost;
  /**
   * Cost of a block that begins, or begins again, inside `blocks`, which contain it. Set if the platform itself shows
   * headings, lists and tables: pieces then name their blocks instead of looking like them.
   */
  readonly blockCost?: (block: Block, blocks: readonly Block[]) => MarkCost;
  /** Blocks that the platform shows itself. Only for renderers with `blockCost`. @default all, and formulas */
  readonly knows?: MarkdownBlocks;
  /** See `Markup.lists`. Only for renderers without `blockCost`. */
  readonly lists?: ListSigns | undefined;
  /** True if the platform can hide this address behind a text. Other addresses are written out. */
  canLink(url: string): boolean;
  render(pieces: readonly Piece[]): Content;
}
