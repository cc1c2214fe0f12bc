import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { SCENES } from "../../pictures/scenes.ts";
import { COMMAND_PAGES, readPage } from "../../support/doc-pages.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const folder = path.join(root, "docs/pictures");
const files = readdirSync(folder);

/** Pictures that pages name, as paths from the root. */
const named = COMMAND_PAGES.flatMap((page) =>
  [...readPage(page).matchAll(/^!\[(?<words>[^\]\n]*)\]\((?<target>[^)\n]+)\)$/gm)].map(({ groups }) => ({
    page,
    words: groups?.["words"] ?? "",
    file: path.join(path.dirname(page), groups?.["target"] ?? ""),
  })),
);

/** Pages whose reader wants to see what comes out. */
const SHOWN = ["first-bot", "tools", "commands-and-texts", "groups", "memory-and-state"];

describe("the pictures of the documentation", () => {
  it("are all there, and each is on a page", () => {
    expect(new Set(named.map(({ file }) => file))).toEqual(
      new Set(files.map((file) => path.join("docs/pictures", file))),
    );
  });

  it("show what the pages explain", () => {
    const pages = new Set(named.map(({ page }) => page));
    const wanted = [
      ...SHOWN.map((name) => `docs/learn/${name}.md`),
      ...["approvals", "cards", "files", "schedules", "guides/debugging"].map((name) => `docs/${name}.md`),
    ];
    expect(wanted.filter((page) => !pages.has(page))).toEqual([]);
  });

  it("say in a sentence what they show", () => {
    const short = named.filter(({ words }) => !/^[A-Z].{30,}[^.]$/.test(words));
    expect(short).toEqual([]);
  });

  it("are small", () => {
    const sizes = files.map((file) => ({ file, bytes: statSync(path.join(folder, file)).size }));
    // The recording of a recovery has many frames.
    const large = sizes.filter(({ bytes, file }) => bytes > 60_000 && file !== "recovery.png");
    expect(large).toEqual([]);
    expect(sizes.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(600_000);
  });

  it("can be taken again by npm run pictures", () => {
    const taken = SCENES.map(({ name }) => `${name}.png`);
    expect(new Set(taken).size).toBe(taken.length);
    // The chart has a script of its own; the page and the recording of a recovery were made by hand.
    const others = files.filter((file) => !taken.includes(file));
    expect(others.toSorted()).toEqual(["figures.svg", "playground.png", "recovery.png"]);
    expect(taken.filter((file) => !files.includes(file))).toEqual([]);
  });
});
