import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../../..");

/**
 * New words replace others: a fact stands in one place, and history in the change log. 25,000 words for the bot on
 * Telegram, and 800 for each larger feature since: eleven of them.
 */
const MOST_WORDS = 33_800;

/** The documents that people write by hand. */
const PAGES = [
  "README.md",
  "ARCHITECTURE.md",
  "AGENTS.md",
  ...readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md") && !file.startsWith(`reference${path.sep}`))
    .map((file) => path.join("docs", file)),
];

/** Counts the words of a page. Lines of tables and pictures are no words. */
function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

it("keeps the documents that are written by hand short", () => {
  const words = new Map(PAGES.map((page) => [page, wordsIn(readFileSync(path.join(root, page), "utf8"))]));
  const longest = [...words].toSorted(([, one], [, other]) => other - one).slice(0, 5);
  const total = [...words.values()].reduce((sum, count) => sum + count, 0);
  expect(total, `The longest pages: ${JSON.stringify(longest)}`).toBeLessThanOrEqual(MOST_WORDS);
});

it("counts words, and no marks", () => {
  expect(wordsIn("| a table | 12 ms |\n| --- | ---: |\n\n## Don't — `count` ▶ marks\n")).toBe(7);
});
