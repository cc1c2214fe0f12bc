import { CHARACTERS_PER_TOKEN, lengthOf } from "./memory-prompt.ts";
import type { MemoryEntry, MemoryRecord } from "./memory-record.ts";
import type { Block } from "./own-session.ts";
import { wordsOf } from "./search-transcript.ts";

/** Most characters of an entry that the model or a person writes. */
export const MOST_CHARACTERS = 300;
/** Most entries of a place, so that a card can show them all. */
export const MOST_ENTRIES = 40;

/** Returns the entries of a block. */
export function entriesOf(
  { entries }: MemoryRecord,
  { label }: Pick<Block, "label">,
): readonly MemoryEntry[] {
  return entries.filter(({ block }) => block === label);
}

/**
 * Returns the record with an entry, in the place of the one with its id if there is one. Undefined if the block or the
 * place has no room.
 */
export function withEntry(record: MemoryRecord, block: Block, entry: MemoryEntry): MemoryRecord | undefined {
  const isKnown = record.entries.some(({ id }) => id === entry.id);
  const entries = isKnown
    ? record.entries.map((one) => (one.id === entry.id ? entry : one))
    : [...record.entries, entry];
  const isFull =
    (!isKnown && entries.length > MOST_ENTRIES) ||
    lengthOf(entries.filter((one) => one.block === block.label)) > block.maxTokens * CHARACTERS_PER_TOKEN;
  return isFull ? undefined : { ...record, entries };
}

export function withoutEntry(record: MemoryRecord, id: string): MemoryRecord {
  return { ...record, entries: record.entries.filter((entry) => entry.id !== id) };
}

/** Longest beginning by which two forms of a word are one: `wear` and `wears`. */
const STEM = 4;

/**
 * Whether words of a person say what an entry says: they have at least half of its words, in any form. A quote such as
 * "yes" supports nothing.
 */
export function isSupported(text: string, quote: string): boolean {
  const stem = (word: string): string => word.normalize("NFKD").replaceAll(/\p{M}/gu, "").slice(0, STEM);
  const said = new Set(wordsOf(quote).map(stem));
  const words = wordsOf(text);
  return words.length > 0 && words.filter((word) => said.has(stem(word))).length * 2 >= words.length;
}

/** Returns words of a person as they are compared: without regard to case, spaces and quotation marks. */
export function comparable(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/["'“”„«»‘’]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
