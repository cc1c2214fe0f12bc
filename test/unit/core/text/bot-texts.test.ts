import { expect, it } from "vitest";
import { sayEnglish, sayIn } from "../../../../src/core/text/bot-texts.ts";
import type { TextName } from "../../../../src/core/text/bot-texts.ts";

it("fills in values, which never fill in anything themselves", () => {
  const values = { name: "{state}", state: "done" };
  expect(sayEnglish("pressLateBy", values)).toBe("This was decided before by {state}: done.");
  expect(sayEnglish("andMore", { count: 3 })).toBe("… and 3 more");
});

it("takes the bot's own words in the reader's language, and English for the rest", () => {
  const texts = { approveButton: { de: "Freigeben", pt: "Aprovar" }, noted: "Ok, noted." };
  const words = (language: string | undefined, name: TextName): string => sayIn(texts, language)(name);
  expect(words("pt-BR", "approveButton")).toBe("Aprovar");
  expect(words("fr", "approveButton")).toBe("Freigeben");
  expect(words(undefined, "noted")).toBe("Ok, noted.");
  expect(words("de", "rejectButton")).toBe("Reject");
});

it("leaves a value that it does not get as it is", () => {
  expect(sayEnglish("cardIn")).toBe("Its card is in “{chat}”.");
});
