import type { Block } from "./block.ts";
import { chooseCut } from "./choose-cut.ts";
import { hashContent } from "./hash.ts";
import type { Meter } from "./meter.ts";
import type { Part, PartLimits } from "./part.ts";
import type { Mark, Piece } from "./piece.ts";
import { isPreformatted } from "./piece.ts";
import type { MarkCost, Renderer } from "./renderer.ts";

/**
 * A piece in a part, with the marks that the platform shows. The costs are those of the part up to the end of the
 * piece.
 */
interface Placed {
  readonly piece: Piece;
  readonly marks: readonly Mark[];
  /** Blocks that are open after the piece. */
  readonly blocks: readonly Block[];
  readonly length: number;
  readonly entities: number;
}

const NOTHING: MarkCost = { length: 0, entities: 0 };

/**
 * Fills parts with pieces. A part is cut at the best place before the first text that does not fit. The place depends
 * only on the text up to there.
 */
export class Packer<Content> {
  readonly #renderer: Renderer<Content>;
  readonly #limits: PartLimits;
  readonly #meter: Meter;
  readonly #done: Part<Content>[] = [];
  #count = 0;
  #placed: Placed[] = [];

  constructor(renderer: Renderer<Content>, limits: PartLimits, meter: Meter) {
    this.#renderer = renderer;
    this.#limits = limits;
    this.#meter = meter;
  }

  /** Parts that are full. */
  get done(): readonly Part<Content>[] {
    return this.#done;
  }

  push(pieces: readonly Piece[]): void {
    const queue = [...pieces].reverse();
    for (let piece = queue.pop(); piece !== undefined; piece = queue.pop()) {
      const placed = this.#place(piece);
      if (placed === undefined) continue;
      this.#placed.push(placed);
      if (placed.length <= this.#limits.maxLength && placed.entities <= this.#limits.maxEntities) continue;
      for (const rest of this.#cut().reverse()) queue.push(rest);
    }
  }

  /** Returns a packer that continues from here, with no complete parts. */
  fork(): Packer<Content> {
    const copy = new Packer(this.#renderer, this.#limits, this.#meter);
    copy.#count = this.#count;
    copy.#placed = [...this.#placed];
    return copy;
  }

  end(): void {
    this.#finish(this.#placed.map(({ piece }) => piece));
    this.#placed = [];
  }

  /** Measures a piece. Returns undefined if only whitespace would come to the start of the part. */
  #place(piece: Piece): Placed | undefined {
    const previous = this.#placed.at(-1);
    let text = piece.text;
    if (previous === undefined) {
      if (piece.separator !== undefined) return undefined;
      if (!isPreformatted(piece.marks)) text = text.trimStart();
      if (text === "") return undefined;
    }
    const trimmed = text === piece.text ? piece : { ...piece, text };
    return this.#measure(trimmed, previous);
  }

  #measure(piece: Piece, previous: Placed | undefined): Placed {
    this.#meter("placed", 1);
    const marks = this.#renderer.effectiveMarks(piece.marks);
    let length = previous?.length ?? 0;
    let entities = previous?.entities ?? 0;
    const before = previous?.marks ?? [];
    for (const mark of marks) {
      if (before.includes(mark)) continue;
      const cost = this.#renderer.markCost(mark, marks);
      length += cost.length;
      entities += cost.entities;
    }
    const { blockCost } = this.#renderer;
    const around = previous?.blocks ?? [];
    const blocks = piece.separator === undefined ? (piece.blocks ?? []) : around;
    for (const block of blocks) {
      if (around.includes(block)) continue;
      const cost = blockCost?.(block, blocks) ?? NOTHING;
      length += cost.length;
      entities += cost.entities;
    }
    length += this.#renderer.textLength(piece.text, marks, blocks);
    return { piece, marks, blocks, length, entities };
  }

  /** Ends the part before the last piece or inside it. Returns the pieces that are left. */
  #cut(): Piece[] {
    const over = this.#placed.at(-1);
    if (over === undefined) return [];
    const pieces = this.#placed.map(({ piece }) => piece);
    const fits = this.#fittingUnits(over, this.#placed.at(-2));
    const before = pieces.slice(0, -1).reduce((sum, piece) => sum + piece.text.length, 0);
    if (before + fits === 0) return this.#forceUnit(over.piece);
    const at = chooseCut(pieces, before + fits);
    this.#placed = [];
    this.#finish(slicePieces(pieces, 0, at.end));
    return slicePieces(pieces, at.next, Infinity);
  }

  /** Counts the UTF-16 units of the piece's text that still fit. */
  #fittingUnits(over: Placed, previous: Placed | undefined): number {
    if (over.entities > this.#limits.maxEntities) return 0;
    let low = 0;
    let high = over.piece.text.length;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const placed = this.#measure({ ...over.piece, text: over.piece.text.slice(0, middle) }, previous);
      if (placed.length <= this.#limits.maxLength) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /**
   * Handles a piece of which not even one character fits. Removes its innermost mark, or sends one code point alone, so
   * that the loop always ends.
   */
  #forceUnit(piece: Piece): Piece[] {
    this.#placed = [];
    if (piece.marks.length > 0) return [{ ...piece, marks: piece.marks.slice(0, -1) }];
    const size = (piece.text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1;
    this.#finish([{ ...piece, text: piece.text.slice(0, size) }]);
    return slicePieces([piece], size, Infinity);
  }

  #finish(pieces: readonly Piece[]): void {
    const trimmed = trimEnd(pieces);
    if (!trimmed.some(({ text }) => VISIBLE.test(text))) return;
    const content = this.#renderer.render(trimmed);
    this.#meter(
      "rendered",
      trimmed.reduce((sum, { text }) => sum + text.length, 0),
    );
    this.#done.push({ index: this.#count, complete: true, content, hash: hashContent(content) });
    this.#count += 1;
  }
}

/** Matches visible text. Platforms refuse a message without any. */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\p{Control}]/u;

function trimEnd(pieces: readonly Piece[]): Piece[] {
  const result = [...pieces];
  for (let last = result.pop(); last !== undefined; last = result.pop()) {
    const text = last.text.trimEnd();
    if (text === "") continue;
    result.push(text === last.text ? last : { ...last, text });
    break;
  }
  return result;
}

function slicePieces(pieces: readonly Piece[], start: number, end: number): Piece[] {
  const result: Piece[] = [];
  let offset = 0;
  for (const piece of pieces) {
    const from = Math.max(0, start - offset);
    const to = Math.min(piece.text.length, end - offset);
    if (from < to)
      result.push(
        from === 0 && to === piece.text.length ? piece : { ...piece, text: piece.text.slice(from, to) },
      );
    offset += piece.text.length;
  }
  return result;
}
