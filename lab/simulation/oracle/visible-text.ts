/** Words that a reply's text and its rendering have in common: formatting, marks, lines and numbers are left out. */
const WORD = /(?=\p{N}*\p{L})[\p{L}\p{N}]+/gu;

export const MARK = "(sent again after a connection problem)";

export function isMarked(text: string): boolean {
  return text.startsWith(`${MARK}\n`);
}

export function stripMark(text: string): string {
  // In a message of blocks the mark is one of them, with a blank line behind it.
  return isMarked(text) ? text.slice(MARK.length + 1).replace(/^\n/, "") : text;
}

const cache = new Map<string, readonly string[]>();
const MOST_CACHED = 2_000;

export function wordsOf(text: string): readonly string[] {
  const known = cache.get(text);
  if (known !== undefined) return known;
  if (cache.size > MOST_CACHED) cache.clear();
  const words = stripMark(text).match(WORD) ?? [];
  cache.set(text, words);
  return words;
}

/** Whether `part` is a run of `whole`; its last word may be cut, because its text may be. */
export function isRunOf(part: readonly string[], whole: readonly string[]): boolean {
  const [first] = part;
  if (first === undefined) return true;
  for (let at = whole.indexOf(first); at >= 0; at = whole.indexOf(first, at + 1)) {
    if (part.every((word, index) => whole[at + index] === word)) return true;
  }
  return false;
}

/** The words by which a text is known to be of one turn, e.g. `t3a0w5z`; a word that was cut has no `z`. */
export function turnWordsOf(text: string): readonly string[] {
  return wordsOf(text).filter((word) => /^t\d+a\d+w\d+z$/.test(word));
}

/** The messages of people that a reply says it answers, e.g. `m0`; the last word of a text may be cut. */
export function questionWordsOf(text: string): readonly string[] {
  return /^re .*\s/.exec(stripMark(text))?.[0].match(/\b[mbpq]\d+(?=\s)/g) ?? [];
}
