import { civilDayOf, DAY_MS, MINUTE_MS, startOfDay } from "../../core/time/civil-time.ts";
import { civilTimeAt, momentOf } from "../../core/time/time-zone.ts";

const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const RELATIVE = /^in (\d{1,4}) (second|minute|hour|day)s?$/;
const UNIT_MS = { second: 1000, minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: DAY_MS } as const;

/**
 * Turns a time that people say into a schedule: `in 30 seconds`, `in 20 minutes`, `today at 18:00`, `tomorrow at 09:00`,
 * `on friday at 09:00`. Every other text stays as it is.
 *
 * @param now epoch milliseconds
 */
export function parseWhen(text: string, now: number, zone: string): string {
  const lower = text.trim().toLowerCase().replaceAll(/\s+/g, " ");
  const relative = RELATIVE.exec(lower);
  if (relative !== null) {
    const ms = Number(relative[1]) * UNIT_MS[relative[2] as keyof typeof UNIT_MS];
    return at(now + ms);
  }
  const [, day, hour, minute] =
    /^(today|tomorrow|(?:on )?[a-z]{3,9}) at ([01]\d|2[0-3]):([0-5]\d)$/.exec(lower) ?? [];
  if (day === undefined) return text.trim();
  const time = (Number(hour) * 60 + Number(minute)) * MINUTE_MS;
  const civilNow = civilTimeAt(now, zone);
  const days = daysUntil(day.replace(/^on /, ""), civilNow, time);
  return days === undefined ? text.trim() : at(momentOf(startOfDay(civilNow) + days * DAY_MS + time, zone));
}

const ABSOLUTE = /^at \S+(z|[+-]\d\d:?\d\d)$/;
const WITH_ZONE = / in (utc|[a-z]+(\/[\w+-]+)+)$/;
const INTERVAL = /^every \d+ (minute|hour)s?$/;

/** Whether a time that people say depends on their time zone. `in 20 minutes` does not. */
export function needsZone(text: string): boolean {
  const lower = text.trim().toLowerCase().replaceAll(/\s+/g, " ");
  return ![RELATIVE, ABSOLUTE, INTERVAL, WITH_ZONE].some((form) => form.test(lower));
}

function daysUntil(day: string, civilNow: number, time: number): number | undefined {
  if (day === "today") return 0;
  if (day === "tomorrow") return 1;
  const weekday = WEEKDAYS.indexOf(day.slice(0, 3));
  if (weekday === -1) return undefined;
  const days = (weekday - civilDayOf(civilNow).weekday + 7) % 7;
  return days === 0 && startOfDay(civilNow) + time <= civilNow ? 7 : days;
}

function at(moment: number): string {
  return `at ${new Date(moment).toISOString()}`;
}
