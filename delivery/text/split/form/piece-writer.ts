import type { Mark, Piece, Separator } from "../pack/piece.ts";
import { isPreformatted } from "../pack/piece.ts";

/** Longest text of one piece, which limits the work on a piece. */
const MAX_PIECE_LENGTH = 4096;

/** Collects pieces. A separator is written when text follows it, so that there is none at the end. */
export class PieceWriter {
  readonly pieces: Piece[] = [];
  #pending: Piece | undefined;
  #written = false;
  #lastMarks: readonly Mark[] = [];

  /** Marks of the text that was written last. */
  get lastMarks(): readonly Mark[] {
    return this.#lastMarks;
  }

  /** Asks for a separator before the next text. Of two in a row, the larger one is kept. */
  separate(written: string, separator: Separator, marks: readonly Mark[]): void {
    if (!this.#written) return;
    const pending = this.#pending;
    // A blank line stays a blank line, even if the text after it is indented.
    const isBlankLine = pending?.text.startsWith("\n\n") === true && /^\n(?!\n)/.test(written);
    const text = isBlankLine ? `\n${written}` : written;
    if (pending !== undefined && pending.text.length >= text.length) {
      const rank = pending.separator === "weak" ? pending.separator : separator;
      this.#pending = { text: pending.text, separator: rank, marks: commonMarks(pending.marks, marks) };
      return;
    }
    const rank = pending?.separator === "weak" ? "weak" : separator;
    this.#pending = {
      text,
      separator: rank,
      marks: pending === undefined ? marks : commonMarks(pending.marks, marks),
    };
  }

  write(text: string, marks: readonly Mark[]): void {
    if (text === "") return;
    if (this.#pending !== undefined) {
      this.pieces.push({ ...this.#pending, marks: commonMarks(this.#pending.marks, marks) });
      this.#pending = undefined;
    }
    this.#written = true;
    this.#lastMarks = marks;
    for (let start = 0; start < text.length;) {
      let end = Math.min(start + MAX_PIECE_LENGTH, text.length);
      if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
      this.pieces.push({ text: text.slice(start, end), marks });
      start = end;
    }
  }

  /** Writes a label, which stays in one part with the text after it. */
  label(text: string, marks: readonly Mark[]): void {
    this.write(text, marks);
    const piece = this.pieces.pop();
    if (piece !== undefined) this.pieces.push({ ...piece, isLabel: true });
  }

  /** Returns the pieces written since the last call. */
  take(): Piece[] {
    return this.pieces.splice(0);
  }

  /** Returns a writer that continues from here, with no pieces yet. */
  fork(): PieceWriter {
    const copy = new PieceWriter();
    copy.#pending = this.#pending;
    copy.#written = this.#written;
    copy.#lastMarks = this.#lastMarks;
    return copy;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Returns the marks of a separator: those of the texts on both sides, except code. */
function commonMarks(left: readonly Mark[], right: readonly Mark[]): readonly Mark[] {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  const common = left.slice(0, length);
  return isPreformatted(common) ? common.filter((mark) => mark.kind === "quote") : common;
}
