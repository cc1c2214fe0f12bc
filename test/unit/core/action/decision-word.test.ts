import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { APPROVAL_WORDS, decisionOf } from "../../../../src/core/action/decision-word.ts";

const decided = (text: string) => decisionOf(text, APPROVAL_WORDS);

describe("a typed decision", () => {
  it.each(["yes", "Yes!", " OK. ", "ja", "Oui", "sí", "да", "はい", "👍🏽", "D’accord"])(
    "approves with nothing but a word: %s",
    (text) => expect(decided(text)).toEqual({ kind: "approve" }),
  );

  it.each(["no", "Nein!", "нет", "いいえ", "👎"])("rejects with a word: %s", (text) =>
    expect(decided(text)).toEqual({ kind: "reject", reason: undefined }),
  );

  it("takes the words after a refusal as its reason", () => {
    expect(decided("No, too much.\nHalf?")).toEqual({ kind: "reject", reason: "too much.\nHalf?" });
    expect(decided("nein – zu viel")).toEqual({ kind: "reject", reason: "zu viel" });
  });

  it.each(["yes, but only 50", "yes?", "ok?", "No problem", "okay then do 8", "yesterday", "", "y e s"])(
    "is none: %s",
    (text) => expect(decided(text)).toBeUndefined(),
  );

  it("uses the bot's own words instead", () => {
    const words = { yes: ["aye"], no: ["nay"] };
    expect(decisionOf("Aye", words)).toEqual({ kind: "approve" });
    expect(decisionOf("yes", words)).toBeUndefined();
  });

  it("never approves with anything added to a word", () => {
    const word = fc.constantFrom(...APPROVAL_WORDS.yes);
    const added = fc
      .string({ minLength: 1, unit: "grapheme" })
      .filter((text) => /[\p{L}\p{N}?,]/u.test(text));
    fc.assert(
      fc.property(word, added, (said, more) => {
        fc.pre(!APPROVAL_WORDS.yes.includes(`${said} ${more}`.toLowerCase().replace(/[\s.!]+$/, "")));
        expect(decided(`${said} ${more}`)?.kind).not.toBe("approve");
      }),
    );
  });

  it("has no word that means both", () => {
    for (const word of APPROVAL_WORDS.yes) expect(APPROVAL_WORDS.no).not.toContain(word);
  });
});
