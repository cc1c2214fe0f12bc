/** Three letters or digits in a row. */
const LONG_ENOUGH = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’]{2}/u;
/** A word, and the beginning of what follows it. The number of a list item is no word. */
const TWO_WORDS = /(?:^|\s)(?!\d+[.)]\s)\S*[\p{L}\p{N}]\S*\s+\S/u;
const ENDED_WORD = /\p{L}[.,!?:;…]/u;
/** Scripts that need no three letters, or no spaces, to say something; and pictures. */
const DENSE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Extended_Pictographic}]/u;

/**
 * Whether the beginning of a text is worth a message: a word that is not just its first letter or two, and never a lone
 * mark. Measured on 652 examples of CommonMark's specification and 119 paragraphs of documentation, streamed four
 * characters at a time: without the rule 45 % and 28 % of the first messages show less than that; with it the first
 * message comes 0.5 and 0.3 pieces later. What is held back appears at the latest with the whole text.
 */
export function isWorthShowing(text: string): boolean {
  return LONG_ENOUGH.test(text) || TWO_WORDS.test(text) || ENDED_WORD.test(text) || DENSE.test(text);
}
