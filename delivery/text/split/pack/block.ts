import type { TextMark } from "../../../../src/core/message/markup.ts";
import type { HeadingLevel } from "../../../../src/core/message/message-block.ts";

/**
 * A block that contains a piece. Like a mark, it is one object for everything it covers: two paragraphs are two
 * objects, and a paragraph that was cut into several segments is one.
 */
export type Block =
  | { readonly kind: "paragraph" | "divider" | "quote" | "row" }
  | { readonly kind: "heading"; readonly level: HeadingLevel }
  | { readonly kind: "code"; readonly language?: string }
  /** Inside another leaf, as the last block: a formula in the middle of a text. */
  | { readonly kind: "formula" }
  | { readonly kind: "list"; readonly isOrdered: boolean }
  | { readonly kind: "item"; readonly number?: number; readonly isChecked?: boolean }
  | {
      readonly kind: "table";
      readonly aligns: readonly CellAlign[];
      /** Cells of the header, for platforms that show no table without one. Undefined if they are long. */
      readonly header?: readonly (readonly Run[])[];
    }
  | { readonly kind: "cell"; readonly column: number; readonly isHeader: boolean };

/** Text with its marks. */
export interface Run {
  readonly text: string;
  readonly marks: readonly TextMark[];
}

export type CellAlign = "left" | "center" | "right";

/** Returns the block that holds the text of a piece: the last one that is not a formula in the middle of a text. */
export function leafOf(blocks: readonly Block[]): Block | undefined {
  const last = blocks.at(-1);
  const outer = blocks.at(-2);
  const isInline = last?.kind === "formula" && outer !== undefined && isLeaf(outer);
  return isInline ? outer : last;
}

export function isLeaf({ kind }: Block): boolean {
  return kind === "paragraph" || kind === "heading" || kind === "cell";
}
