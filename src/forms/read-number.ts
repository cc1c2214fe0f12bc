import type { Say, TextName, TextValues } from "../core/text/bot-texts.ts";
import type { FormContext, NumberField, Reading } from "./form.ts";
import { shownNumber } from "./shown-number.ts";

/** Parts of a number are separated by one of these: spaces, and the apostrophe of Switzerland. */
const GROUPS = /(?<=\d)[\s'’٬](?=\d{3}(?!\d))/gu;

/** Returns the number of a text in the notation of a language: `1.234,50`, `1,234.50`, `1 234,50`. */
export function readNumber(
  field: NumberField,
  text: string,
  { language, say }: Pick<FormContext, "language" | "say">,
): Reading {
  const problem = (name: TextName, values?: TextValues): Reading => ({
    kind: "problem",
    problem: say(name, values),
  });
  const parsed = parseNumber(text, language);
  if (parsed === undefined) return problem("formNotNumber");
  if (typeof parsed !== "number") {
    const [one, other] = parsed.map((value) => shownNumber(value, undefined));
    return problem("formNumberUnclear", { one: one ?? "", other: other ?? "" });
  }
  const refused = numberProblem(field, parsed, say, language);
  return refused === undefined ? { kind: "value", value: parsed } : { kind: "problem", problem: refused };
}

/**
 * Returns the number of a text. Undefined if it is none, and both numbers that it may be if only a language could tell
 * and none is known.
 */
export function parseNumber(
  text: string,
  language: string | undefined,
): number | readonly [number, number] | undefined {
  const plain = withLatinDigits(text)
    .replaceAll(/[\p{Cf}\p{Sc}]/gu, "")
    .trim()
    .replaceAll(GROUPS, "")
    .replaceAll("٫", ",")
    .replace(/^[−–]/u, "-");
  if (!/^[+-]?(?:\d[\d.,]*|[.,]\d+)$/.test(plain)) return undefined;
  const marks = plain.replaceAll(/[^.,]/g, "");
  const last = marks.at(-1);
  if (last === undefined) return numberOf(plain);
  const other = last === "." ? "," : ".";
  const asDecimal = (): number | undefined => {
    // The mark of decimals stands once, and behind those of groups.
    if (marks.slice(0, -1).includes(last)) return undefined;
    const [whole = "", ...rest] = plain.split(last);
    return isGrouped(whole, other) ? numberOf(`${whole.replaceAll(other, "")}.${rest.join("")}`) : undefined;
  };
  const asGroups = (): number | undefined =>
    !marks.includes(other) && isGrouped(plain, last) ? numberOf(plain.replaceAll(last, "")) : undefined;
  const decimal = asDecimal();
  const grouped = asGroups();
  if (decimal === undefined || grouped === undefined) return decimal ?? grouped;
  const mark = decimalMark(language);
  return mark === undefined ? [grouped, decimal] : mark === last ? decimal : grouped;
}

/** Whether the parts between the marks have three digits each, and only the first has fewer. */
function isGrouped(whole: string, mark: string): boolean {
  const [first = "", ...others] = whole.replace(/^[+-]/, "").split(mark);
  if (others.length === 0) return true;
  return /^[1-9]\d{0,2}$/.test(first) && others.every((part) => /^\d{3}$/.test(part));
}

function numberOf(plain: string): number | undefined {
  const value = Number(plain);
  // Zero has no sign in JSON.
  return Number.isFinite(value) ? value + 0 : undefined;
}

function decimalMark(language: string | undefined): string | undefined {
  if (language === undefined) return undefined;
  try {
    const parts = new Intl.NumberFormat(language).formatToParts(0.5);
    const mark = parts.find(({ type }) => type === "decimal")?.value;
    return mark === "." ? "." : ",";
  } catch {
    // A platform may tell a language that the runtime does not know.
    return undefined;
  }
}

/** Digits of other scripts, such as `٣`, as Latin ones. */
export function withLatinDigits(text: string): string {
  return text.replaceAll(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0) ?? 0;
    // The digits of a script follow each other, from zero to nine.
    let value = 0;
    while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
    return String(value);
  });
}

/** Returns why a number is outside of a field's limits. */
export function numberProblem(
  { exclusiveMaximum, exclusiveMinimum, isInteger = false, maximum, minimum, multipleOf }: NumberField,
  value: number,
  say: Say,
  language: string | undefined,
): string | undefined {
  const words = (limit: number): TextValues => ({ number: shownNumber(limit, language) });
  if (isInteger && !Number.isSafeInteger(value)) return say("formNotWhole");
  if (minimum !== undefined && value < minimum) return say("formTooSmall", words(minimum));
  if (maximum !== undefined && value > maximum) return say("formTooLarge", words(maximum));
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return say("formNotAbove", words(exclusiveMinimum));
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return say("formNotBelow", words(exclusiveMaximum));
  if (multipleOf !== undefined && !isMultiple(value, multipleOf))
    return say("formNotMultiple", words(multipleOf));
  return undefined;
}

/** `0.3 / 0.1` is not quite three. */
function isMultiple(value: number, step: number): boolean {
  const ratio = value / step;
  return Math.abs(ratio - Math.round(ratio)) < 1e-9 * Math.max(1, Math.abs(ratio));
}
