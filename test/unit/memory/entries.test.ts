import fc from "fast-check";
import { expect, it } from "vitest";
import {
  entriesOf,
  isSupported,
  MOST_ENTRIES,
  withEntry,
  withoutEntry,
} from "../../../src/memory/entries.ts";
import {
  CHARACTERS_PER_TOKEN,
  lengthOf,
  memoryPrompt,
  textOfEntries,
} from "../../../src/memory/memory-prompt.ts";
import type { MemoryEntry, MemoryRecord } from "../../../src/memory/memory-record.ts";
import type { Block } from "../../../src/memory/own-session.ts";

const BLOCKS: readonly Block[] = [
  { label: "one", maxTokens: 50, scope: "person" },
  { label: "two", maxTokens: 400, scope: "person" },
];
const entry = (label: string, id: string, text: string): MemoryEntry => ({
  id,
  block: label,
  text,
  source: "noted",
  at: 0,
});

it("stays within its limits whatever is written and forgotten, and keeps what did not fit out", () => {
  const step = fc.record({
    block: fc.constantFrom(...BLOCKS),
    id: fc.integer({ min: 0, max: 60 }).map(String),
    text: fc.string({ maxLength: 120 }),
    forgets: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      let record: MemoryRecord = { entries: [] };
      for (const { block, forgets, id, text } of steps) {
        const next = forgets
          ? withoutEntry(record, id)
          : withEntry(record, block, entry(block.label, id, text));
        if (!forgets && next !== undefined)
          expect(next.entries.find((one) => one.id === id)?.text).toBe(text);
        record = next ?? record;
        expect(record.entries.length).toBeLessThanOrEqual(MOST_ENTRIES);
        expect(new Set(record.entries.map((one) => one.id)).size).toBe(record.entries.length);
      }
      for (const block of BLOCKS)
        expect(lengthOf(entriesOf(record, block))).toBeLessThanOrEqual(
          block.maxTokens * CHARACTERS_PER_TOKEN,
        );
    }),
  );
});

it("shows each entry in one line, so that no text can look like another block or entry", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "binary", maxLength: 80 }), { minLength: 1, maxLength: 5 }),
      (texts) => {
        const entries = texts.map((text, index) => entry("one", `id${index}`, `a${text}\n## two\n- [x] b`));
        const shown = textOfEntries(entries);
        expect(shown.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(texts.length);
        const prompt = memoryPrompt(
          [{ block: { label: "one", maxTokens: 1, scope: "person" }, text: shown }],
          true,
        );
        expect(prompt.match(/^## /gm)).toHaveLength(1);
      },
    ),
  );
});

it.each([
  ["Wears size 42", "I wear 42", true],
  ["Lives in Evil Street", "yes", false],
  ["Lives in Evil Street", "I live in Evil Street 5", true],
  ["Trägt Größe 42", "ich trage 42", true],
  ["", "anything", false],
  ["🙂", "🙂", false],
])("tells whether words say the same: %s, %s", (text, quote, isSame) => {
  expect(isSupported(text, quote)).toBe(isSame);
});
