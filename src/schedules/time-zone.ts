import { Temporal } from "temporal-polyfill";
import type { CivilMs } from "./civil-time.ts";

/**
 * Returns the moment at which the clocks of a zone show a civil time. A time that they skip counts as that much later
 * (02:30 becomes 03:30), and of a time that they show twice the first is meant.
 */
export function momentOf(civil: CivilMs, zone: string): number {
  const date = new Date(civil);
  const plain = new Temporal.PlainDateTime(
    date.getUTCFullYear(),
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  );
  return plain.toZonedDateTime(zone, { disambiguation: "compatible" }).epochMilliseconds;
}

/** Returns the civil time that the clocks of a zone show at a moment. */
export function civilTimeAt(moment: number, zone: string): CivilMs {
  const zoned = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(zone);
  return moment + zoned.offsetNanoseconds / 1_000_000;
}

/** Whether the runtime knows a zone of this name, such as `Europe/London`. Offsets such as `+01:00` are not names. */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/.test(zone)) return false;
  try {
    civilTimeAt(0, zone);
    return true;
  } catch {
    return false;
  }
}

/** Parses a date and time in ISO form. Returns undefined if it is none. */
export function parseIsoTime(
  text: string,
): { readonly civil: CivilMs } | { readonly moment: number } | undefined {
  if (!/^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}/.test(text)) return undefined;
  try {
    return { moment: Temporal.Instant.from(text).epochMilliseconds };
  } catch {
    // It has no offset.
  }
  try {
    return { civil: Temporal.PlainDateTime.from(text).toZonedDateTime("UTC").epochMilliseconds };
  } catch {
    return undefined;
  }
}
