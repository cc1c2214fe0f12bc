import type { Mark, Piece, Separator } from "../pack/piece.ts";
import { NO_MARKS } from "../pack/piece.ts";
import { PieceWriter } from "../form/piece-writer.ts";
import type { Block } from "../pack/block.ts";

/** Collects pieces that name their blocks; separators wait until text follows. */
export class BlockWriter {
  #pieces: Piece[] = [];
  #pending: Piece | undefined;
  /** The blocks of the text that was written last. */
  #last: readonly Block[] = [];

  get last(): readonly Block[] {
    return this.#last;
  }

  /** Asks for a separator before the next text. The larger of two that meet is kept, and the worse place to cut. */
  separate(text: string, separator: Separator): void {
    if (this.#last.length === 0) return;
    const pending = this.#pending;
    const kept = pending !== undefined && pending.text.length >= text.length ? pending.text : text;
    const rank = pending?.separator === "weak" ? "weak" : separator;
    this.#pending = { text: kept, separator: rank, marks: NO_MARKS };
  }

  write(text: string, marks: readonly Mark[], blocks: readonly Block[]): void {
    if (text === "") return;
    if (this.#pending !== undefined) this.#pieces.push(this.#pending);
    this.#pending = undefined;
    this.#last = blocks;
    const writer = new PieceWriter();
    writer.write(text, marks);
    for (const piece of writer.take()) this.#pieces.push({ ...piece, blocks });
  }

  /** Hands out what was written since the last call. */
  take(): Piece[] {
    return this.#pieces.splice(0);
  }

  /** A writer that goes on where this one is, with nothing to hand out. */
  fork(): BlockWriter {
    const copy = new BlockWriter();
    copy.#pending = this.#pending;
    copy.#last = this.#last;
    return copy;
  }
}
