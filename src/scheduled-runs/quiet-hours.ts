import { DAY_MS, MINUTE_MS, startOfDay } from "../core/time/civil-time.ts";
import { civilTimeAt, isTimeZone, momentOf } from "../core/time/time-zone.ts";

/** Times of day at which a task writes to nobody. Occurrences in them wait for their end. */
export interface QuietHours {
  /** Such as `"22:00"`. */
  readonly from: string;
  /** Such as `"07:00"`. Earlier than `from` if the night is meant. */
  readonly to: string;
  /** The zone of these hours. @default the zone of the schedule, else `getDefaultTimezone()` */
  readonly timezone?: string;
}

/** Times of day at which a task writes to nobody. Plain JSON. */
export interface CheckedQuietHours {
  /** Milliseconds since midnight. */
  readonly from: number;
  /** Milliseconds since midnight. Smaller than `from` if the night is meant. */
  readonly to: number;
  readonly zone: string;
}

/** Returns the time of day of `HH:mm`, in milliseconds since midnight. */
export function parseTimeOfDay(text: string): number | undefined {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text);
  return match === null ? undefined : (Number(match[1]) * 60 + Number(match[2])) * MINUTE_MS;
}

/**
 * Checks quiet hours.
 *
 * @param otherZone zone of hours that name none
 */
export function parseQuietHours(
  { from, timezone, to }: QuietHours,
  otherZone: string | undefined,
): CheckedQuietHours | { readonly problem: string } {
  const [fromMs, toMs] = [parseTimeOfDay(from), parseTimeOfDay(to)];
  if (fromMs === undefined || toMs === undefined || fromMs === toMs)
    return {
      problem: '"quietHours" needs two different times of day, such as from "22:00" to "07:00".',
    };
  const zone = timezone ?? otherZone;
  if (zone === undefined || !isTimeZone(zone))
    return {
      problem: 'The "quietHours" have no time zone. Add "timezone" to them, such as "Europe/London".',
    };
  return { from: fromMs, to: toMs, zone };
}

/** Returns the end of the quiet hours that a moment falls into, in epoch milliseconds. Undefined outside of them. */
export function quietUntil({ from, to, zone }: CheckedQuietHours, moment: number): number | undefined {
  const civil = civilTimeAt(moment, zone);
  const midnight = startOfDay(civil);
  const time = civil - midnight;
  const isNight = from > to;
  const isQuiet = isNight ? time >= from || time < to : time >= from && time < to;
  if (!isQuiet) return undefined;
  const end = midnight + to + (isNight && time >= from ? DAY_MS : 0);
  // On the night when the clocks go back, the end may have been a moment ago: the hours are over then.
  const until = momentOf(end, zone);
  return until > moment ? until : undefined;
}
