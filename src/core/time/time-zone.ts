import { DAY_MS } from "./civil-time.ts";
import type { CivilMs } from "./civil-time.ts";

/** To make a formatter costs more than to use it a hundred times, and it takes memory. */
const MOST_FORMATTERS = 64;

/** By the names of their zones. The one that was used last is the last. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * Returns the moment at which the clocks of a zone show a civil time. A time that they skip counts as that much later
 * (02:30 becomes 03:30), and of a time that they show twice the first is meant.
 */
export function momentOf(civil: CivilMs, zone: string): number {
  // No zone is a day or more away from UTC, so a change of its clocks at this time lies between these two.
  const byClockBefore = civil - offsetAt(civil - DAY_MS, zone);
  if (civilTimeAt(byClockBefore, zone) === civil) return byClockBefore;
  const byClockAfter = civil - offsetAt(civil + DAY_MS, zone);
  return civilTimeAt(byClockAfter, zone) === civil ? byClockAfter : byClockBefore;
}

/** Returns the civil time that the clocks of a zone show at a moment. */
export function civilTimeAt(moment: number, zone: string): CivilMs {
  return moment + offsetAt(moment, zone);
}

/** Abbreviations that the runtime takes for zones. `IST` may be India, Ireland or Israel. */
const AMBIGUOUS = /^(?:AC|AE|AG|AR|AS|BE|BS|CA|CN|CS|CT|EA|EC|IE|IS|JS|MI|NE|NS|PL|PN|PR|PS|SS|VS)T$/i;

/** Whether the runtime knows a zone of this name, such as `Europe/London`. Offsets such as `+01:00` are not names. */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/.test(zone) || AMBIGUOUS.test(zone)) return false;
  try {
    formatterOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds by which the clocks of a zone are ahead of UTC at a moment. */
function offsetAt(moment: number, zone: string): number {
  // Such as `11/23/2026, GMT+05:30`. Offsets of the 19th century have seconds, too.
  const [, sign, hours, minutes, seconds = "0"] =
    /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(formatterOf(zone).format(moment)) ?? [];
  const offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -offset : offset;
}

/** @throws {RangeError} when the runtime knows no zone of this name */
function formatterOf(zone: string): Intl.DateTimeFormat {
  const formatter =
    formatters.get(zone) ?? new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  formatters.delete(zone);
  formatters.set(zone, formatter);
  for (const leastUsed of formatters.keys()) {
    if (formatters.size <= MOST_FORMATTERS) break;
    formatters.delete(leastUsed);
  }
  return formatter;
}

const ISO_TIME =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:([Zz]|([+-]\d\d)(?::?(\d\d))?)(?:\[[^\]]+\])*)?$/;

/**
 * Parses a date and time in ISO form, with seconds and an offset or without. Returns undefined for any other text. An offset
 * may be followed by the name of a zone in brackets, which counts for nothing then.
 */
export function parseIsoTime(
  text: string,
): { readonly civil: CivilMs } | { readonly moment: number } | undefined {
  const [, date, time, seconds = "00", fraction = "", offset, hours, minutes = "00"] =
    ISO_TIME.exec(text) ?? [];
  if (date === undefined || time === undefined) return undefined;
  const shown = `${date}T${time}:${seconds}.${fraction.padEnd(3, "0").slice(0, 3)}`;
  const civil = Date.parse(`${shown}Z`);
  // There is no 30 February, and no 24:00.
  if (Number.isNaN(civil) || new Date(civil).toISOString() !== `${shown}Z`) return undefined;
  if (offset === undefined) return { civil };
  const moment = hours === undefined ? civil : Date.parse(`${shown}${hours}:${minutes}`);
  return Number.isNaN(moment) ? undefined : { moment };
}
