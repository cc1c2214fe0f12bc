import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorCode } from "../../../src/core/base/errors.ts";
import { foldersOf, parsePath, safeName } from "../../../src/workspace/file-path.ts";
import { fitsGlob } from "../../../src/core/text/glob.ts";

const bytes = (text: string): number => new TextEncoder().encode(text).length;

/** Texts that look like paths, good and bad. */
const part = fc.oneof(
  fc.constantFrom(
    "",
    ".",
    "..",
    "a",
    "notes",
    "plan.md",
    "é",
    "e\u0301",
    "ﬁ",
    " x",
    "a b",
    "%2e%2e",
    "con",
    "\u0000",
    "\u202e",
    "\\",
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const given = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .tuple(fc.constantFrom("", "/", "//"), fc.array(part, { maxLength: 6 }))
    .map(([start, parts]) => start + parts.join("/")),
);

function parsed(path: string): string | undefined {
  try {
    return parsePath(path);
  } catch (error) {
    expect(errorCode(error)).toBe("workspace-path");
    return undefined;
  }
}

describe("a path", () => {
  it("has one form, which is absolute, without steps, visible and short", () => {
    fc.assert(
      fc.property(given, (path) => {
        const one = parsed(path);
        if (one === undefined) return;
        expect(parsed(one)).toBe(one);
        expect(parsed(`${one}/`)).toBe(one);
        expect(parsed(one.normalize("NFD"))).toBe(one);
        expect(one.startsWith("/")).toBe(true);
        expect(one).toBe(one.normalize("NFC"));
        const names = one === "/" ? [] : one.slice(1).split("/");
        for (const name of names) {
          expect(["", ".", ".."]).not.toContain(name);
          expect(bytes(name)).toBeLessThanOrEqual(255);
          // oxlint-disable-next-line no-control-regex -- what must not be there
          expect(name).not.toMatch(/[\u0000-\u001f\u007f\\/\u202e\u200b\ud800-\udfff]/u);
        }
        expect(bytes(one)).toBeLessThanOrEqual(512);
        expect(foldersOf(one).length).toBe(Math.max(names.length - 1, 0));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    "",
    "notes.md",
    "./a",
    "../a",
    "/a/../b",
    "/..",
    "/a/./b",
    "/a\u0000b",
    "C:\\a",
    "/a\u202eb",
    `/${"x".repeat(600)}`,
  ])("is refused as %j", (path) => {
    expect(parsed(path)).toBeUndefined();
  });
});

it("makes a name of whatever a sender calls a file, which is one part of a path", () => {
  fc.assert(
    fc.property(fc.oneof(given, fc.string({ unit: "binary", maxLength: 400 })), (name) => {
      const safe = safeName(name, "document");
      expect(parsed(`/sent/${safe}`)).toBe(`/sent/${safe}`);
      expect(safe).not.toContain("/");
    }),
    { numRuns: 2000 },
  );
  expect(safeName("../../etc/passwd", "document")).toBe(".._.._etc_passwd");
  expect(safeName("Réceipt june.PDF", "document")).toBe("Réceipt june.PDF");
});

describe("a pattern", () => {
  it("fits as the same regular expression does", () => {
    const pattern = fc.array(fc.constantFrom("*", "?", "a", "b", "/", "**/", "/**/"), { maxLength: 7 });
    const path = fc.array(fc.constantFrom("a", "b", "ab", "ba", "aab"), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(pattern, path, (pieces, names) => {
        const text = pieces
          .join("")
          .replaceAll(/\/+/g, "/")
          .replaceAll(/\*{3,}/g, "**");
        // Two stars inside of a name are as one.
        const parts = text.split("/").filter((one) => one !== "");
        if (!text.includes("/")) parts.unshift("**");
        const source = parts
          .map((one) =>
            one === "**" ? "(?:/[^/]+)*" : `/${one.replaceAll(/\*+/g, "[^/]*").replaceAll("?", "[^/]")}`,
          )
          .join("");
        expect(fitsGlob(`/${names.join("/")}`, text)).toBe(
          new RegExp(`^${source}$`).test(`/${names.join("/")}`),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it("takes no time that grows with its stars", () => {
    const started = performance.now();
    expect(fitsGlob(`/${"a".repeat(500)}`, `${"*a".repeat(120)}*b`)).toBe(false);
    expect(fitsGlob(`/a${"/a".repeat(30)}`, `${"**/a/".repeat(50)}b`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
