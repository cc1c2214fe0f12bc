import type { Say } from "../core/text/bot-texts.ts";
import type { Json } from "../core/message/content.ts";
import { inOneLine } from "../core/text/one-line.ts";
import { timeInWords } from "../core/text/time-in-words.ts";
import { isObject, plainValue } from "./json-schema.ts";
import type { ChoiceField, FormContext, FormField } from "./form.ts";
import { shownNumber } from "./shown-number.ts";

const HIDDEN = "•••";

/** A value as the person reads it. That of a sensitive field is masked. */
export function shownValue(
  field: FormField,
  value: Json,
  { language, say, timeZone }: Pick<FormContext, "language" | "say" | "timeZone">,
): string {
  if (field.isSensitive === true) return HIDDEN;
  if (field.kind === "choice") {
    const option = field.options.find((one) => one.value === value);
    if (option !== undefined) return optionLabel(option, say);
  }
  if (typeof value === "number") return shownNumber(value, language);
  if (typeof value === "boolean") return say(value ? "yesWord" : "noWord");
  if (field.kind === "date-time" && typeof value === "string") {
    const moment = Date.parse(value);
    if (!Number.isNaN(moment)) return timeInWords(moment, timeZone, say);
  }
  if (typeof value === "string") return value.trim() === "" ? "–" : inOneLine(value);
  return isObject(value) ? objectInWords(value, say) : "–";
}

function objectInWords(value: { readonly [key: string]: Json }, say: Say): string {
  const { address, kind, latitude, longitude, name, title } = value;
  const words = [title, address, name].filter((one) => typeof one === "string");
  if (typeof latitude === "number" && typeof longitude === "number") {
    const degrees = `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
    return inOneLine(words.length > 0 ? `${words.join(", ")} (${degrees})` : degrees);
  }
  if (words.length > 0) return inOneLine(words.join(", "));
  return say(kind === "image" ? "formPhotoWord" : "formFileWord");
}

/** Label of an option: its own, "Yes" or "No", or its value. */
export function optionLabel({ label, value }: ChoiceField["options"][number], say: Say): string {
  if (label !== undefined) return label;
  if (typeof value === "boolean") {
    const word = say(value ? "yesWord" : "noWord");
    return word.charAt(0).toUpperCase() + word.slice(1);
  }
  return inOneLine(plainValue(value)) || "–";
}
