import { expect, it } from "vitest";
import { ENGLISH_TEXTS } from "../../../src/core/text/english-texts.ts";
import { checkTexts } from "../../../src/messengers/declare/check-texts.ts";

it("accepts texts in one language or several, and those of Switchboard", () => {
  const own = { noted: "Ok.", pressNotAllowed: { de: "Das kann {approvers}.", en: "Ask {approvers}." } };
  for (const texts of [undefined, ENGLISH_TEXTS, own]) expect(() => checkTexts(texts)).not.toThrow();
});

it.each([
  [{ approveButon: "Ja" }, 'approveButon of texts does not exist. Did you mean "approveButton"?'],
  [
    { questionOfApproval: "Ist das in Ordnung?" },
    expect.stringMatching(
      /^questionOfApproval of texts does not exist. Did you mean .{0,40}"approval\w+".{0,60}\?$/,
    ),
  ],
  [{ colour: "rot" }, "colour of texts does not exist. ENGLISH_TEXTS has all names."],
  ["Ja", "The argument of texts must be an object. ENGLISH_TEXTS has all names."],
  [
    { pressNotAllowed: { en: "Ask {approvers}.", de: "Frag {approver}." } },
    "pressNotAllowed of texts has an unknown value {approver}. Did you mean {approvers}?",
  ],
  [
    { approveButton: "Ja, {name}" },
    "approveButton of texts has an unknown value {name}. This text has none.",
  ],
  [
    { approvalQuestion: "Is this OK?" },
    "approvalQuestion of texts must have {summary}: nobody can decide about a question that they do not see.",
  ],
  [{ noted: { de: "" } }, "noted of texts must be a text, or a text for each language: { en, de }."],
  [{ noted: 7 }, "noted of texts must be a text, or a text for each language: { en, de }."],
  [{ noted: {} }, "noted of texts must have a text for at least one language."],
])("names what is wrong in %j", (texts, message) => {
  expect(() => checkTexts(texts)).toThrow(expect.objectContaining({ code: "text-invalid", message }));
});
