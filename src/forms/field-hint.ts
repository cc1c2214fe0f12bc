import type { FormContext, FormField, NumberField, TextField } from "./form.ts";
import { civilTimeAt } from "../core/time/time-zone.ts";
import { shownNumber } from "./shown-number.ts";

const DAY_MS = 86_400_000;

/** Returns how to answer a field, in one or two sentences. */
export function fieldHint(field: FormField, context: FormContext): string {
  const { now, say, timeZone } = context;
  switch (field.kind) {
    case "choice":
      return say("formOptionHint");
    case "text":
      return [say("formTextHint"), lengthHint(field, context)].filter(Boolean).join(" ");
    case "number":
      return [say(field.isInteger === true ? "formWholeHint" : "formNumberHint"), rangeHint(field, context)]
        .filter(Boolean)
        .join(" ");
    case "date":
      return say("formDateHint", { example: example(now, timeZone).slice(0, 10) });
    case "date-time":
      return say("formDateTimeHint", { example: example(now, timeZone), zone: timeZone });
    case "email":
      return say("formEmailHint");
    case "uri":
      return say("formAddressHint");
    case "file":
      return say("formFileHint");
    case "photo":
      return say("formPhotoHint");
    case "place":
      return say("formPlaceHint");
    default:
      return field satisfies never;
  }
}

/** A day in a week, at nine. */
function example(now: number, timeZone: string): string {
  return `${new Date(civilTimeAt(now, timeZone) + 7 * DAY_MS).toISOString().slice(0, 10)} 09:00`;
}

function lengthHint({ maxLength, minLength = 0 }: TextField, { say }: FormContext): string {
  if (maxLength !== undefined && minLength > 1)
    return say("formLengthHint", { least: minLength, most: maxLength });
  if (minLength > 1) return say("formLeastLengthHint", { count: minLength });
  return maxLength === undefined ? "" : say("formMostLengthHint", { count: maxLength });
}

function rangeHint(field: NumberField, { language, say }: FormContext): string {
  const known = (limit: number | undefined): string | undefined =>
    limit === undefined || Math.abs(limit) >= Number.MAX_SAFE_INTEGER
      ? undefined
      : shownNumber(limit, language);
  const [least, most] = [known(field.minimum), known(field.maximum)];
  if (least !== undefined && most !== undefined) return say("formRangeHint", { least, most });
  if (least !== undefined) return say("formTooSmall", { number: least });
  return most === undefined ? "" : say("formTooLarge", { number: most });
}
