import { describe, expect, it } from "vitest";
import { buttonRows, fileForm, possibleMode, wordForm } from "../../../../src/core/chat/degrade.ts";
import type { OutgoingMedia } from "../../../../src/core/chat/surface.ts";

const rowsOf = (...rows: readonly (readonly string[])[]) =>
  rows.map((row) => row.map((label) => ({ label })));
const labelsOf = (rows: ReturnType<typeof buttonRows<{ readonly label: string }>>) =>
  rows?.map((row) => row.map(({ label }) => label));

describe("a card", () => {
  const limits = { maxRows: 2, maxPerRow: 2, maxTextLength: 100, maxLabelLength: 4 };

  it.each([
    ["keeps rows that fit", [["a"], ["b", "c"]], [["a"], ["b", "c"]]],
    ["fills rows that are too many", [["a"], ["b"], ["c"]], [["a", "b"], ["c"]]],
    ["cuts a row that is too long", [["a", "b", "c"]], [["a", "b"], ["c"]]],
    ["is text with too many buttons", [["a", "b", "c", "d", "e"]], undefined],
    ["is text with a long label", [["abcde"]], undefined],
  ])("%s", (_case, rows, expected) => {
    expect(labelsOf(buttonRows(rowsOf(...rows), limits, undefined))).toEqual(expected);
  });

  it("measures labels in the platform's unit", () => {
    expect(labelsOf(buttonRows(rowsOf(["🌈🌈🌈"]), limits, "code-points"))).toEqual([["🌈🌈🌈"]]);
    expect(buttonRows(rowsOf(["ää€"]), limits, "utf8-bytes")).toBeUndefined();
  });
});

describe("a reply", () => {
  const all = { edit: true, drafts: true, stream: true };

  it.each([
    ["edit", all, "edit"],
    ["edit", { ...all, edit: false }, "buffered"],
    ["draft", all, "draft"],
    ["draft", { ...all, drafts: false }, "edit"],
    ["draft", { ...all, drafts: false, edit: false }, "buffered"],
    ["native", all, "native"],
    ["native", { ...all, stream: false }, "edit"],
    ["native", { ...all, edit: false }, "buffered"],
    ["buffered", all, "buffered"],
    ["final-only", { ...all, edit: false }, "final-only"],
  ] as const)("in the mode %s with %j appears as %s", (mode, abilities, expected) => {
    expect(possibleMode(mode, abilities)).toBe(expected);
  });
});

describe("a private word", () => {
  it.each([
    ["note", true, "private"],
    ["note", false, "private"],
    ["message", true, "message"],
    ["message", false, "private"],
    ["none", true, "message"],
  ] as const)("with %s in a private chat (%s) is %s", (privateWords, isDirectMessage, expected) => {
    expect(wordForm(privateWords, isDirectMessage)).toBe(expected);
  });
});

describe("a file", () => {
  const files = { maxBytes: () => 1, maxAlbumSize: 1, callTimeoutMs: 1 };
  const address: OutgoingMedia["source"] = { kind: "address", url: "https://e.com/x" };
  const bytes: OutgoingMedia["source"] = { kind: "bytes", hash: "h", sizeBytes: 1 };
  const refusal = { code: "file-too-large", text: "It is too large." };

  it.each([
    [{ source: bytes }, files, "file"],
    [{ source: address }, files, "file"],
    [{ source: address }, undefined, "link"],
    [{ source: bytes }, undefined, "word"],
    [{ source: bytes, refusal }, files, "word"],
  ] as const)("%j is a %3$s", (file, capabilities, expected) => {
    expect(fileForm(file, capabilities)).toBe(expected);
  });
});
