import { graphemeBorder } from "./grapheme.ts";
import type { Piece } from "./piece.ts";
import { isPreformatted } from "./piece.ts";

export interface Cut {
  /** Where the part ends. */
  readonly end: number;
  /** Where the next part begins; what is between is whitespace. */
  readonly next: number;
}

type Rank = "block" | "line" | "sentence" | "word";

/** Least share of the room that a cut of this rank must fill; the first rule that finds one decides. */
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
/** More than any run of closing quotes. */
const SENTENCE_CONTEXT = 8;

/** The best place to cut at or before `fits`, in units of the joined text; greater than 0. */
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

/** Where the label begins that ends at or holds `at`, unless it begins the part. */
function beforeLabel(pieces: readonly Piece[], at: number): number {
  let offset = 0;
  for (const piece of pieces) {
    const end = offset + piece.text.length;
    if (at <= end) return piece.isLabel === true && offset > 0 ? offset : at;
    offset = end;
  }
  return at;
}

/** The last place of each rank. */
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

/** Where a paragraph was too long to be read at once, a space inside of it is a separator. */
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

/** Drops the whitespace at the cut; inside code only the line break, because indentation is content. */
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
