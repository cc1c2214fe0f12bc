/** Three letters or digits in a row. */
const LONG_ENOUGH = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’]{2}/u;
/** A word, and the beginning of the next one. The number of a list item is not a word. */
const TWO_WORDS = /(?:^|\s)(?!\d+[.)]\s)\S*[\p{L}\p{N}]\S*\s+\S/u;
const ENDED_WORD = /\p{L}[.,!?:;…]/u;
/** Emoji, and scripts that need fewer than three letters, or no spaces, to say something. */
const DENSE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Extended_Pictographic}]/u;

/**
 * Tells whether the beginning of a text is worth a message: at least a word that is more than its first one or two
 * letters, never a lone punctuation mark. Any text appears at the latest when it is whole.
 *
 * Measured on 652 examples of the CommonMark specification and 119 paragraphs of documentation, streamed four
 * characters at a time: without the rule, 45 % and 28 % of the first messages show less than that. With it, the first
 * message comes 0.5 and 0.3 pieces later.
 */
export function isWorthShowing(text: string): boolean {
  return LONG_ENOUGH.test(text) || TWO_WORDS.test(text) || ENDED_WORD.test(text) || DENSE.test(text);
}
