import { graphemeBorder } from "../pack/grapheme.ts";
import { findOpenInline } from "./open-inline.ts";

/** Characters whose meaning depends on their neighbours. */
const SYNTAX = /[\\*_~`[\]()<>&!]/;
const MAX_STEPS_BACK = 64;
const MAX_SPACES_TRIED = 8;

/**
 * Finds the place to cut a line that is too long to be read again with every chunk. `line` has at least `limit`
 * characters; only the first `limit` of them decide.
 *
 * The cut is after a space outside all formatting, if there is one. It is inside a link only if there is no other
 * place.
 */
export function cutLongLine(line: string, limit: number): number {
  const text = line.slice(0, limit);
  const spaces = lastSpaces(text, limit / 2);
  let whole: number | undefined;
  for (const space of spaces) {
    const open = findOpenInline(text.slice(0, space));
    if (open.bracket !== undefined || open.code !== undefined) continue;
    if (open.delimiters.length === 0) return space + 1;
    whole ??= space;
  }
  const space = whole ?? spaces[0];
  if (space !== undefined) return space + 1;
  const border = graphemeBorder(text, limit - 1);
  for (let at = border; at > border - MAX_STEPS_BACK && at > 1; at -= 1) {
    if (SYNTAX.test(text.charAt(at - 1)) || SYNTAX.test(text.charAt(at))) continue;
    if (graphemeBorder(text, at) === at) return at;
  }
  return border;
}

/** Lists the last spaces after `from`, last one first. */
function lastSpaces(text: string, from: number): number[] {
  const spaces: number[] = [];
  let at = text.length - 1;
  while (at > from && spaces.length < MAX_SPACES_TRIED) {
    at = Math.max(text.lastIndexOf(" ", at - 1), text.lastIndexOf("\t", at - 1));
    if (at > from) spaces.push(at);
  }
  return spaces;
}
