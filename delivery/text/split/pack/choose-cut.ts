import { graphemeBorder } from "./grapheme.ts";
import type { Piece } from "./piece.ts";
import { isPreformatted } from "./piece.ts";

export interface Cut {
  readonly end: number;
  /** Start of the next part. Only whitespace is between the two. */
  readonly next: number;
}

type Rank = "block" | "line" | "sentence" | "word";

/**
 * The kinds of places to cut, best first, each with the share of the room that the part must fill. The first rule that
 * finds a place decides.
 */
const RULES: readonly (readonly [Rank, number])[] = [
  ["block", 0.75],
  ["line", 0.75],
  ["sentence", 0.75],
  ["block", 0.5],
  ["line", 0.5],
  ["sentence", 0.5],
  ["word", 0.5],
];

const SENTENCE_END = /[.!?…]["'”’»)\]]*$|[。！？]["'”’」』）]*$/u;
/** Longer than any run of closing quotes. */
const SENTENCE_CONTEXT = 8;

/**
 * Finds the best place to cut at or before `fits`. Offsets count UTF-16 units of the joined text. The result is greater
 * than 0.
 */
export function chooseCut(pieces: readonly Piece[], fits: number): Cut {
  const text = pieces.map((piece) => piece.text).join("");
  const places = findPlaces(pieces, text, fits);
  for (const [rank, share] of RULES) {
    const place = places.get(rank);
    if (place !== undefined && place >= Math.max(1, fits * share)) return cutAt(pieces, text, place);
  }
  const border = beforeLabel(pieces, graphemeBorder(text, fits));
  return { end: border, next: border };
}

/**
 * Moves a cut at the end of a label, or inside it, to the start of the label. A label at the start of the part is cut.
 */
function beforeLabel(pieces: readonly Piece[], at: number): number {
  let offset = 0;
  for (const piece of pieces) {
    const end = offset + piece.text.length;
    if (at <= end) return piece.isLabel === true && offset > 0 ? offset : at;
    offset = end;
  }
  return at;
}

/** Finds the last place of each rank. */
function findPlaces(pieces: readonly Piece[], text: string, fits: number): Map<Rank, number> {
  const places = new Map<Rank, number>();
  let offset = 0;
  for (const piece of pieces) {
    if (offset > fits) break;
    if (piece.separator !== undefined) {
      if (offset > 0)
        places.set(rankOf(piece, text.slice(Math.max(0, offset - SENTENCE_CONTEXT), offset)), offset);
    } else if (piece.isLabel !== true) {
      findInText(piece, offset, text, fits, places);
    }
    offset += piece.text.length;
  }
  return places;
}

/** Ranks a separator. A paragraph that was too long to be read at once has separators at some of its spaces. */
function rankOf({ separator, text }: Piece, before: string): Rank {
  if (separator === "block" || separator === "line") return separator;
  return text === " " && SENTENCE_END.test(before) ? "sentence" : "word";
}

function findInText(
  piece: Piece,
  offset: number,
  text: string,
  fits: number,
  places: Map<Rank, number>,
): void {
  const verbatim = isPreformatted(piece.marks);
  const end = Math.min(piece.text.length - 1, fits - offset);
  for (const match of piece.text.slice(0, end + 1).matchAll(/\s/gu)) {
    const place = offset + match.index;
    if (place === 0) continue;
    if (match[0] === "\n") places.set("line", place);
    else if (NO_BREAK.test(match[0])) continue;
    else if (!verbatim && SENTENCE_END.test(text.slice(Math.max(0, place - SENTENCE_CONTEXT), place))) {
      places.set("sentence", place);
    } else places.set("word", place);
  }
}

const NO_BREAK = /[\u00a0\u202f\u2007\ufeff]/u;

/** Removes the whitespace at the cut. Inside code only the line break goes, because indentation is content. */
function cutAt(pieces: readonly Piece[], text: string, place: number): Cut {
  let offset = 0;
  for (const piece of pieces) {
    const end = offset + piece.text.length;
    if (place < end) {
      if (piece.separator !== undefined) return { end: place, next: end };
      const verbatim = isPreformatted(piece.marks);
      if (verbatim) return { end: place, next: text.charAt(place) === "\n" ? place + 1 : place };
      break;
    }
    offset = end;
  }
  return { end: place, next: place };
}
