import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutText } from "../../../playground/telegram/page/split-text.js";

function piecesOf(text: string, limit?: number): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== "";) {
    const cut = cutText(rest, limit);
    pieces.push(cut.piece);
    ({ rest } = cut);
  }
  return pieces;
}

describe("the pieces of a long text", () => {
  it("are one when the text fits", () => {
    expect(piecesOf("x".repeat(4096))).toEqual(["x".repeat(4096)]);
    expect(piecesOf("x".repeat(4097))).toEqual(["x".repeat(4096), "x"]);
  });

  it("end with a paragraph, else with a line, else with a word", () => {
    expect(piecesOf("aaaaaaa\n\nb\nc d", 12)).toEqual(["aaaaaaa", "b\nc d"]);
    expect(piecesOf("aaaaaa bb\nc d e", 12)).toEqual(["aaaaaa bb", "c d e"]);
    expect(piecesOf("aaaaaa bb c d e", 12)).toEqual(["aaaaaa bb c", "d e"]);
    expect(piecesOf("aaaa bbbbbbbbbb", 12)).toEqual(["aaaa bbbbbbb", "bbb"]);
    expect(piecesOf("aaaaaaaaaaaa b", 12)).toEqual(["aaaaaaaaaaaa", "b"]);
  });

  it("never cut a pair of surrogates", () => {
    expect(piecesOf("x🙂🙂🙂", 4)).toEqual(["x🙂", "🙂🙂"]);
  });

  it("are the whole text in order, each short enough, whatever it is", () => {
    const words = fc.string({ unit: fc.constantFrom("a", "🙂", "é", " ", "\n"), maxLength: 200 });
    const units = (text: string) => text.replaceAll(/\s/g, "");
    fc.assert(
      fc.property(words, fc.integer({ min: 2, max: 40 }), (raw, limit) => {
        const text = raw.trim();
        const pieces = piecesOf(text, limit);
        expect(units(pieces.join(""))).toBe(units(text));
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(limit);
          expect(piece.isWellFormed()).toBe(true);
          expect(piece).not.toBe("");
        }
      }),
    );
  });
});
