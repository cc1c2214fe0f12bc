import { describe, expect, it } from "vitest";
import { ENGLISH_TEXTS } from "../../../src/core/text/english-texts.ts";
import { sayIn } from "../../../src/core/text/bot-texts.ts";
import type { OneText, TextName, TextTable } from "../../../src/core/text/bot-texts.ts";
import { checkTexts } from "../../../src/messengers/declare/check-texts.ts";
import { arabic, byLanguage, german } from "../../../src/texts/index.ts";

const NAMES = Object.keys(ENGLISH_TEXTS) as TextName[];
const COUNTS = [0, 1, 2, 3, 11, 100];

const valuesIn = (text: string): string[] =>
  [...new Set(Array.from(text.matchAll(/\{(\w+)\}/g), ([, value = ""]) => value))].toSorted();

/** The versions of a text for all plural forms. */
function versionsOf(text: OneText): string[] {
  return typeof text === "string" ? [text] : COUNTS.map((count) => text({ count, duration: "{duration}" }));
}

describe.each<[string, TextTable, RegExp]>([
  ["German", german, /^[\p{Script=Latin}\P{L}]*$/u],
  ["Arabic", arabic, /\p{Script=Arabic}/u],
])("the texts in %s", (_language, table, script) => {
  it("say everything that the English ones say", () => {
    expect(() => checkTexts(table)).not.toThrow();
    for (const name of NAMES) {
      const wanted = valuesIn(ENGLISH_TEXTS[name]);
      for (const version of versionsOf(table[name])) {
        // A form for one or two may say the number as a word.
        const own = valuesIn(version);
        const isCounted = typeof table[name] === "function";
        const lacking = wanted.filter((value) => !own.includes(value) && !(isCounted && value === "count"));
        expect([name, lacking, own.filter((value) => !wanted.includes(value))]).toEqual([name, [], []]);
        expect(version.trim()).not.toBe("");
      }
    }
  });

  it("have no text in English", () => {
    const neutral = new Set<TextName>(["approvalQuestion", "grantTerms", "oneMinute", "inDuration"]);
    const written = (text: string): string => text.replaceAll(/\{\w+\}|\/\w+/g, "");
    for (const name of NAMES.filter((one) => !neutral.has(one))) {
      const [version = ""] = versionsOf(table[name]);
      expect([name, version]).not.toEqual([name, ENGLISH_TEXTS[name]]);
      if (/\p{L}/u.test(written(version))) expect(written(version)).toMatch(script);
    }
  });

  it("have seven names of days", () => {
    expect(sayIn(table, undefined)("weekdays").split(" ")).toHaveLength(7);
  });
});

it("counts as the language does: Arabic has six forms", () => {
  const minutes = (count: number): string => sayIn(arabic, undefined)("minutes", { count });
  expect([0, 1, 2, 3, 11, 100].map(minutes)).toEqual([
    "0 دقيقة",
    "دقيقة واحدة",
    "دقيقتين",
    "3 دقائق",
    "11 دقيقة",
    "100 دقيقة",
  ]);
  const say = sayIn(german, undefined);
  expect([1, 2].map((count) => say("days", { count }))).toEqual(["1 Tag", "2 Tage"]);
  expect(say("inDuration", { duration: "2 Tage" })).toBe("in 2 Tagen");
});

it("gives each reader the own language, and the first one to all others", () => {
  const texts = byLanguage({ en: ENGLISH_TEXTS, de: german, ar: arabic });
  expect(() => checkTexts(texts)).not.toThrow();
  const approve = (language: string | undefined): string => sayIn(texts, language)("approveButton");
  expect([approve("de-AT"), approve("ar"), approve("fr"), approve(undefined)]).toEqual([
    german.approveButton,
    arabic.approveButton,
    "Approve",
    "Approve",
  ]);
  expect(sayIn(texts, "ar")("days", { count: 2 })).toBe("يومين");
});

it("shows the English text if a function of the bot fails", () => {
  const noted = (): string => {
    throw new Error("broken");
  };
  expect(sayIn({ noted }, undefined)("noted")).toBe("Thanks, noted.");
});
