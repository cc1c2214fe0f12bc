import type { TextMark } from "../../../../src/core/message/markup.ts";
import type { Block } from "./block.ts";

/** Formatting over a stretch of text: see `TextMark`. */
export type Mark = TextMark;

/** Quality of a cut at a separator. `weak` is after a heading, or between words. */
export type Separator = "block" | "line" | "weak";

export interface Piece {
  readonly text: string;
  /** Outermost first. */
  readonly marks: readonly Mark[];
  /** Set for the space between two blocks or lines. It is dropped if the part is cut there. */
  readonly separator?: Separator;
  /** True for the number or bullet of an item, and for the name of a value. No part ends with a label. */
  readonly isLabel?: true;
  /** Blocks that contain the text, outermost first. Only for renderers with `blockCost`. */
  readonly blocks?: readonly Block[];
}

export const NO_MARKS: readonly Mark[] = [];

/** True inside a code block, where whitespace is content. */
export function isPreformatted(marks: readonly Mark[]): boolean {
  return marks.some((mark) => mark.kind === "pre");
}
