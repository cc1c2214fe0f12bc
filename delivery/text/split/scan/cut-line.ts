import { graphemeBorder } from "../pack/grapheme.ts";
import { findOpenInline } from "./open-inline.ts";

/** Characters that mean something together with their neighbours. */
const SYNTAX = /[\\*_~`[\]()<>&!]/;
const MAX_STEPS_BACK = 64;
const MAX_SPACES_TRIED = 8;

/**
 * Where a line of at least `limit` characters is cut, when it has grown too long to be read again with every chunk:
 * after a space outside of all formatting if there is one, and never inside a link if that can be helped. Depends on
 * the first `limit` characters only.
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

/** The last spaces behind `from`, the last one first. */
function lastSpaces(text: string, from: number): number[] {
  const spaces: number[] = [];
  let at = text.length - 1;
  while (at > from && spaces.length < MAX_SPACES_TRIED) {
    at = Math.max(text.lastIndexOf(" ", at - 1), text.lastIndexOf("\t", at - 1));
    if (at > from) spaces.push(at);
  }
  return spaces;
}
