import { describe, expect, it } from "vitest";
import { inLanguage, languagesOf } from "../../../../src/core/text/local-text.ts";

describe("a text in several languages", () => {
  const hours = { en: "Hours", de: "Öffnungszeiten", "pt-BR": "Horário" };

  it.each([
    ["de", "Öffnungszeiten"],
    ["de-AT", "Öffnungszeiten"],
    ["DE", "Öffnungszeiten"],
    ["pt-br", "Horário"],
    ["pt", "Hours"],
    ["fr", "Hours"],
    [undefined, "Hours"],
  ])("is read in %s as %s", (language, text) => {
    expect(inLanguage(hours, language)).toBe(text);
  });

  it("may be the same for everyone", () => {
    expect(inLanguage("Hours", "de")).toBe("Hours");
    expect(languagesOf("Hours")).toEqual([]);
  });

  it("names the languages that a menu can have", () => {
    expect(languagesOf({ ...hours, pt: "x", fil: "y" })).toEqual(["en", "de", "pt"]);
  });
});
