import type { RichText } from "../../../src/core/message/rich-text.ts";
import { textLength } from "../../../src/core/text/text-length.ts";
import type { LengthUnit } from "../../../src/core/text/text-length.ts";
import type { Mark, Piece } from "../split/pack/piece.ts";
import type { Renderer } from "../split/pack/renderer.ts";
import { countLineBreaks, LineWriter } from "./line-writer.ts";

const QUOTE_PREFIX = "> ";

/** Writes text without formatting, for platforms that have none, and as the fallback when formatting was refused. */
export function plainTextIn(unit: LengthUnit | undefined): Renderer<RichText> {
  return {
    effectiveMarks: quotes,
    textLength: (text, marks) =>
      textLength(text, unit) + countLineBreaks(text) * marks.length * QUOTE_PREFIX.length,
    markCost: () => ({ length: QUOTE_PREFIX.length, entities: 0 }),
    canLink: () => false,

    render(pieces: readonly Piece[]): RichText {
      const lines = new LineWriter();
      for (const piece of pieces) {
        lines.prefix = QUOTE_PREFIX.repeat(quotes(piece.marks).length);
        lines.write(piece.text);
      }
      return { text: lines.text, entities: [] };
    },
  };
}

export const plainText = plainTextIn("utf16");

function quotes(marks: readonly Mark[]): readonly Mark[] {
  return marks.filter(({ kind }) => kind === "quote");
}
