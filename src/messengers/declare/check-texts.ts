import { ENGLISH_TEXTS } from "../../core/text/english-texts.ts";
import { checkOptions, namesOf } from "../../core/json/check-options.ts";
import { closestName } from "../../core/text/closest-name.ts";
import { ConfigurationError } from "../../core/base/errors.ts";
import type { TextName } from "../../core/text/bot-texts.ts";

const QUESTION: TextName = "approvalQuestion";

/**
 * Checks the `texts` of a bot. A misspelt name would leave a text in English, and people would read a misspelt `{value}`
 * as it is.
 *
 * @throws {ConfigurationError} `text-invalid`, which names the text and the fix
 */
export function checkTexts(texts: unknown): void {
  checkOptions(texts, namesOf(ENGLISH_TEXTS), {
    owner: "texts",
    code: "text-invalid",
    listedIn: "ENGLISH_TEXTS",
  });
  if (texts === undefined) return;
  for (const [name, text] of Object.entries(texts as object)) if (text !== undefined) checkText(name, text);
}

function checkText(name: string, text: unknown): void {
  const isMap = typeof text === "object" && text !== null && !Array.isArray(text);
  const versions: readonly unknown[] = isMap ? Object.values(text) : [text];
  const values = valuesOf(ENGLISH_TEXTS[name as TextName]);
  if (versions.length === 0) throw invalid(name, "must have a text for at least one language.");
  for (const version of versions) {
    if (typeof version === "function") continue;
    if (typeof version !== "string" || version.trim() === "")
      throw invalid(name, "must be a text, or a text for each language: { en, de }.");
    const unknown = valuesOf(version).find((value) => !values.includes(value));
    if (unknown !== undefined)
      throw invalid(name, `has an unknown value {${unknown}}. ${advice(unknown, values)}`);
    if (name === QUESTION && !valuesOf(version).includes("summary"))
      throw invalid(name, "must have {summary}: nobody can decide about a question that they do not see.");
  }
}

function valuesOf(text: string): string[] {
  return Array.from(text.matchAll(/\{(\w+)\}/g), ([, value = ""]) => value);
}

function advice(unknown: string, values: readonly string[]): string {
  const meant = closestName(unknown, values);
  if (meant !== undefined) return `Did you mean {${meant}}?`;
  return values.length === 0
    ? "This text has none."
    : `It has ${values.map((value) => `{${value}}`).join(", ")}.`;
}

function invalid(name: string, problem: string): ConfigurationError {
  return new ConfigurationError("text-invalid", `${name} of texts ${problem}`);
}
