import { expect, it } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { createNoteStore } from "../../../src/inbox/note-store.ts";
import type { NoteStore } from "../../../src/inbox/note-store.ts";

/** Adds digests and posts, one a second, and returns the notes that the next turn takes. */
function taken(store: NoteStore, texts: readonly string[]): string[] {
  for (const [index, text] of texts.entries())
    store.add(`n${String(index).padStart(3, "0")}`, { text, at: index, isKept: text.startsWith("digest") });
  store.take("t", undefined);
  return store.ofTurn("t").map(({ text }) => text);
}

const newStore = (): NoteStore => createNoteStore(createNodeDatabase());
const posts = (count: number): string[] => Array.from({ length: count }, (_, index) => `post ${index}`);

it("keeps the newest posts, which never displace a digest", () => {
  const notes = taken(newStore(), ["digest 1", ...posts(15), "digest 2", ...posts(12)]);
  expect(notes).toEqual(["digest 1", "digest 2", ...posts(12).slice(2)]);
});

it("keeps all digests as long as they are short, and always ten", () => {
  const short = Array.from({ length: 30 }, (_, index) => `digest ${index}`);
  expect(taken(newStore(), short)).toEqual(short);
  const long = short.map((text) => text.padEnd(10_000, "."));
  expect(taken(newStore(), long)).toEqual(long.slice(-10));
});
