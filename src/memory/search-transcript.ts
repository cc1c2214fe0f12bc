import type { FoundMessage } from "../turn/model/session-messages.ts";

/** Finds messages by one word, the best first. */
export type FindWord = (word: string, limit: number) => Promise<readonly FoundMessage[]>;

const MOST_WORDS = 16;
/** A word with this many messages says little about any of them. */
const MOST_FOUND = 200;

/**
 * Finds messages by the words of a question. Each word is looked up by itself, because people never ask in the words of
 * the answer alone: a message counts by the words that it has, and a rare word counts more.
 */
export async function searchTranscript(
  query: string,
  limit: number,
  find: FindWord,
): Promise<readonly FoundMessage[]> {
  const scores = new Map<string, { readonly message: FoundMessage; score: number }>();
  for (const word of wordsOf(query)) {
    const found = await find(word, MOST_FOUND);
    const weight = 1 / Math.log2(2 + found.length);
    for (const [place, message] of found.entries()) {
      const known = scores.get(message.id) ?? { message, score: 0 };
      // Of messages with the same words the shorter ones come first, as the index ranks them.
      known.score += weight * (1 + 0.1 / (1 + place));
      scores.set(message.id, known);
    }
  }
  return [...scores.values()]
    .toSorted((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ message }) => message);
}

/** Returns the words of a text, each once. */
export function wordsOf(text: string): readonly string[] {
  const runs = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const words = runs.flatMap((run) => (hasNoSpaces(run) ? segmentsOf(run) : run));
  return [...new Set(words)].slice(0, MOST_WORDS);
}

/** Whether a language writes this text without spaces between words. */
export function hasNoSpaces(text: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(
    text,
  );
}

function segmentsOf(run: string): readonly string[] {
  const segments = new Intl.Segmenter(undefined, { granularity: "word" }).segment(run);
  return [...segments].flatMap(({ isWordLike, segment }) => (isWordLike === true ? segment : []));
}

/** Returns the part of a text around the first of the words. */
export function excerptOf(text: string, query: string, most: number): string {
  if (text.length <= most) return text;
  const lower = text.toLowerCase();
  const places = wordsOf(query)
    .filter((word) => word.length > 3)
    .map((word) => lower.indexOf(word))
    .filter((at) => at !== -1);
  const start = Math.max(
    0,
    Math.min(places.length === 0 ? 0 : Math.min(...places) - most / 4, text.length - most),
  );
  return `${start > 0 ? "…" : ""}${text.slice(start, start + most)}${start + most < text.length ? "…" : ""}`;
}
