/** Words that a reply's text and its rendering have in common: formatting, marks, lines and numbers are left out. */
const WORD = /(?=\p{N}*\p{L})[\p{L}\p{N}]+/gu;

export const MARK = "(sent again after a connection problem)";

export function isMarked(text: string): boolean {
  return text.startsWith(`${MARK}\n`);
}

export function stripMark(text: string): string {
  // In a message of blocks the mark is a block, followed by a blank line.
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

/** Whether `part` is a run of words of `whole`. Its last word may be cut. */
export function isRunOf(part: readonly string[], whole: readonly string[]): boolean {
  const [first] = part;
  if (first === undefined) return true;
  for (let at = whole.indexOf(first); at >= 0; at = whole.indexOf(first, at + 1)) {
    if (part.every((word, index) => whole[at + index] === word)) return true;
  }
  return false;
}

/** Returns the words that show the turn of a text, e.g. `t3a0w5z`. A cut word has no `z`. */
export function turnWordsOf(text: string): readonly string[] {
  return wordsOf(text).filter((word) => /^t\d+a\d+w\d+z$/.test(word));
}

/** Returns the messages of people that a reply names, e.g. `m0`. The last word of a text may be cut. */
export function questionWordsOf(text: string): readonly string[] {
  return /^re .*\s/.exec(stripMark(text))?.[0].match(/\b[mbpq]\d+(?=\s)/g) ?? [];
}
