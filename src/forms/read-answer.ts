import { APPROVAL_WORDS, decisionOf } from "../core/action/decision-word.ts";
import type { Json } from "../core/message/content.ts";
import { textLength } from "../core/text/text-length.ts";
import type { TextName, TextValues } from "../core/text/bot-texts.ts";
import type { FieldKind, FormContext, FormField, FormMessage, Reading } from "./form.ts";
import { readDate, readDateTime } from "./read-date.ts";
import type { TimeContext } from "./read-date.ts";
import { plainValue } from "./json-schema.ts";
import { readFile } from "./read-file.ts";
import { readLocation } from "./read-location.ts";
import { readNumber } from "./read-number.ts";
import { optionLabel } from "./shown-value.ts";

export type ReadingContext = TimeContext & Pick<FormContext, "say">;

/** Returns what a message means as the answer to a field: its value, or why it is none, for the person. */
export function readAnswer(field: FormField, message: FormMessage, context: ReadingContext): Reading {
  const { say } = context;
  const problem = (name: TextName, values?: TextValues): Reading => ({
    kind: "problem",
    problem: say(name, values),
  });
  const text = message.text.trim();
  switch (field.kind) {
    case "file":
    case "photo":
      return readFile(field, message, say);
    case "place": {
      const location = message.location ?? readLocation(text);
      return location === undefined ? problem("formNoPlace") : { kind: "value", value: { ...location } };
    }
    case "choice": {
      const value = chosen(field, text, context);
      return value === undefined ? problem("formNotOption") : { kind: "value", value };
    }
    case "text":
      return readText(field, text, problem);
    case "number":
      return readNumber(field, text, context);
    case "date":
      return readDate(text, context);
    case "date-time": {
      const reading = readDateTime(text, context);
      if (reading.kind === "problem") return reading;
      return { kind: "value", value: writtenTime(reading.moment, field.patterns) };
    }
    case "email": {
      // Some platforms send an address as a link.
      const address = text.replace(/^<?(?:mailto:)?([^<>|\s]+)(?:\|[^<>]*)?>?$/i, "$1");
      return /^[^\s@<>]+@[^\s@<>]+\.[^\s@<>.]+$/.test(address) && matches(address, field.patterns)
        ? { kind: "value", value: address }
        : problem("formNotEmail");
    }
    case "uri": {
      const address = addressOf(text);
      return address !== undefined && matches(address, field.patterns)
        ? { kind: "value", value: address }
        : problem("formNotAddress");
    }
    default:
      return field satisfies never;
  }
}

function readText(
  { maxLength, minLength, patterns }: Extract<FieldKind, { kind: "text" }>,
  text: string,
  problem: (name: TextName, values?: TextValues) => Reading,
): Reading {
  // JSON Schema counts characters, libraries count units of UTF-16. The stricter one counts.
  if (text === "" && (minLength ?? 1) > 0) return problem("formNoText");
  if (minLength !== undefined && textLength(text, "code-points") < minLength)
    return problem("formTextTooShort", { count: minLength });
  if (maxLength !== undefined && text.length > maxLength)
    return problem("formTextTooLong", { count: maxLength });
  return matches(text, patterns) ? { kind: "value", value: text } : problem("formTextRefused");
}

/** A JSON Schema does not tell whether its pattern ignores case, so only the schema itself can insist on it. */
function matches(text: string, patterns: readonly string[] = []): boolean {
  return patterns.every((pattern) => new RegExp(pattern, "iu").test(text));
}

/** An option counts by its label and by its value, in any case. */
function chosen(
  { isYesNo = false, options }: Extract<FieldKind, { kind: "choice" }>,
  text: string,
  { say }: Pick<FormContext, "say">,
): Json | undefined {
  const said = text.toLowerCase();
  const named = (words: (one: (typeof options)[number]) => string): Json | undefined =>
    options.find((one) => words(one).trim().toLowerCase() === said)?.value;
  const option = named((one) => optionLabel(one, say)) ?? named(({ value }) => plainValue(value));
  if (option !== undefined || !isYesNo) return option;
  const decision = decisionOf(text, APPROVAL_WORDS);
  if (decision === undefined || (decision.kind === "reject" && decision.reason !== undefined))
    return undefined;
  return decision.kind === "approve";
}

function addressOf(text: string): string | undefined {
  const given = text.replace(/^<([^<>|\s]+)(?:\|[^<>]*)?>$/, "$1");
  if (/\s/.test(given)) return undefined;
  const isNamed = /^[a-z][a-z\d+.-]*:/i.test(given) && !/^[^/:]+\.[^/:]+:\d/.test(given);
  const address = isNamed ? given : `https://${given}`;
  if (!isNamed && !/^[^/?#]+\.[^/?#.]{2,}(?:[/?#]|$)/.test(given)) return undefined;
  return URL.canParse(address) ? address : undefined;
}

/** A moment as its schema wants it: usually without milliseconds, sometimes with them or without seconds. */
function writtenTime(moment: number, patterns: readonly string[] = []): string {
  const whole = new Date(moment).toISOString();
  const forms = [whole.replace(/\.\d{3}Z$/, "Z"), whole, whole.replace(/:\d\d\.\d{3}Z$/, "Z")];
  const local = forms.map((form) => form.slice(0, -1));
  return [...forms, ...local].find((form) => matches(form, patterns)) ?? whole;
}
