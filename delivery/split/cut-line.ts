import { graphemeBorder } from "./grapheme.ts";

/** Characters that mean something together with their neighbours. */
const SYNTAX = /[\\*_~`[\]()<>&!]/;
const MAX_STEPS_BACK = 64;

/**
 * Where a line of at least `limit` characters is cut, when it has grown too long to be read again with every chunk.
 * Depends on the first `limit` characters only.
 */
export function cutLongLine(line: string, limit: number): number {
  const text = line.slice(0, limit);
  const space = text.slice(0, -1).search(/[ \t][^ \t]*$/);
  if (space > limit / 2) return space + 1;
  const border = graphemeBorder(text, limit - 1);
  for (let at = border; at > border - MAX_STEPS_BACK && at > 1; at -= 1) {
    if (SYNTAX.test(text.charAt(at - 1)) || SYNTAX.test(text.charAt(at))) continue;
    if (graphemeBorder(text, at) === at) return at;
  }
  return border;
}
