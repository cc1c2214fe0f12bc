import type { RichText } from "../../../src/core/rich-text.ts";
import type { Mark, Piece } from "../split/pack/piece.ts";
import type { Renderer } from "../split/pack/renderer.ts";
import { countLineBreaks, LineWriter } from "./line-writer.ts";

const QUOTE_PREFIX = "> ";

/** Writes text without formatting, for platforms that have none, and as the fallback when formatting was refused. */
export const plainText: Renderer<RichText> = {
  effectiveMarks: quotes,
  textLength: (text, marks) => text.length + countLineBreaks(text) * marks.length * QUOTE_PREFIX.length,
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

function quotes(marks: readonly Mark[]): readonly Mark[] {
  return marks.filter(({ kind }) => kind === "quote");
}
