import { parseCron } from "./cron.ts";
import type { DayRule, Rule, ScheduleKind } from "./rule.ts";
import { isTimeZone, momentOf, parseIsoTime } from "../../core/time/time-zone.ts";

/** A schedule that was understood, or a sentence that says what is wrong and how to fix it. */
export type ParsedSchedule =
  | {
      readonly kind: ScheduleKind;
      readonly rule: Rule;
      /** The zone on whose clock it runs. Undefined for intervals, and for a moment with an offset. */
      readonly zone: string | undefined;
    }
  | { readonly problem: string };

const FORMS =
  'Write "every 15 minutes", "every 2 hours", "every day at 09:00", "every weekday at 09:00", "every week on monday,wednesday at 09:00", "every month on 1,15 at 09:00", "every month on the last friday at 09:00", "cron 0 9 * * 1-5" or "at 2026-12-24T18:00".';
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const NTH = { first: 1, second: 2, third: 3, fourth: 4, last: -1 } as const;
const UNIT_MS = { minute: 60_000, hour: 3_600_000 } as const;
const ALL_MONTHS = Array.from({ length: 12 }, (_, index) => index + 1);
const MOST_EVERY_MS = 366 * 24 * 3_600_000;

type Calendar = Omit<Extract<Rule, { kind: "calendar" }>, "zone">;
type Read =
  | { readonly kind: ScheduleKind; readonly calendar: Calendar }
  | { readonly kind: ScheduleKind; readonly rule: Rule }
  | { readonly kind: ScheduleKind; readonly civil: number }
  | { readonly problem: string };

/**
 * Parses a schedule.
 *
 * @param defaultZone the zone of schedules that name none
 */
export function parseSchedule(text: string, defaultZone: string | undefined): ParsedSchedule {
  const { schedule, zone: inline } = splitZone(text.trim().replaceAll(/\s+/g, " "));
  const read = readSchedule(schedule);
  if ("problem" in read) return read;
  const zone = inline ?? defaultZone;
  if (zone !== undefined && !isTimeZone(zone))
    return { problem: `"${zone}" is not a time zone. Use a name such as "Europe/London".` };
  if ("rule" in read) {
    if (inline !== undefined)
      return {
        problem: `"${text}" is the same everywhere, so it takes no time zone. Remove "in ${inline}".`,
      };
    return { kind: read.kind, rule: read.rule, zone: undefined };
  }
  if (zone === undefined)
    return {
      problem: `"${text}" runs by the clock and has no time zone. Add one, as in "${text} in Europe/London", give the task a "timezone", or return one from getDefaultTimezone().`,
    };
  const rule: Rule =
    "civil" in read ? { kind: "once", at: momentOf(read.civil, zone) } : { ...read.calendar, zone };
  return { kind: read.kind, rule, zone };
}

function splitZone(text: string): { readonly schedule: string; readonly zone: string | undefined } {
  const match = /^(.*?) in (\S+)$/i.exec(text);
  return match === null ? { schedule: text, zone: undefined } : { schedule: match[1] ?? "", zone: match[2] };
}

function readSchedule(text: string): Read {
  const lower = text.toLowerCase();
  if (lower.startsWith("cron ")) return readCron(text.slice(5));
  if (lower.startsWith("at ")) return readMoment(text.slice(3));
  const interval = /^every (\d+) (minute|hour)s?$/.exec(lower);
  if (interval !== null) return readInterval(Number(interval[1]), interval[2] as "minute" | "hour");
  const timed = /^every (.+) at (\S+)$/.exec(lower);
  if (timed === null) return { problem: `"${text}" is not a schedule. ${FORMS}` };
  const [, days = "", timeText = ""] = timed;
  const time = readTime(timeText);
  if (time === undefined)
    return { problem: `"${timeText}" is not a time of day. Write 00:00 to 23:59, such as "09:00".` };
  if (days === "day") return { kind: "daily", calendar: { ...time, days: { kind: "every" } } };
  if (days === "weekday") return { kind: "weekday", calendar: { ...time, days: weekdays([1, 2, 3, 4, 5]) } };
  const [, unit, list = ""] = /^(week|month) on (.+)$/.exec(days) ?? [];
  if (unit === "week") return readWeek(list, time);
  if (unit === "month") return readMonth(list, time);
  return { problem: `"${text}" is not a schedule. ${FORMS}` };
}

function readInterval(count: number, unit: keyof typeof UNIT_MS): Read {
  const everyMs = count * UNIT_MS[unit];
  if (everyMs === 0 || everyMs > MOST_EVERY_MS)
    return { problem: `An interval has at least 1 minute and at most 366 days, not ${count} ${unit}s.` };
  return { kind: "interval", rule: { kind: "interval", everyMs } };
}

function readCron(expression: string): Read {
  const calendar = parseCron(expression.trim());
  if (typeof calendar === "string") return { problem: calendar };
  return { kind: "cron", calendar };
}

function readMoment(text: string): Read {
  const time = parseIsoTime(text.toUpperCase());
  if (time === undefined)
    return {
      problem: `"${text}" is not a moment. Write it as in "at 2026-12-24T18:00" or "at 2026-12-24T18:00+01:00".`,
    };
  return "moment" in time
    ? { kind: "once", rule: { kind: "once", at: time.moment } }
    : { kind: "once", civil: time.civil };
}

function readTime(text: string): Omit<Calendar, "days"> | undefined {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text);
  if (match === null) return undefined;
  return { kind: "calendar", hours: [Number(match[1])], minutes: [Number(match[2])], months: ALL_MONTHS };
}

function readWeek(list: string, time: Omit<Calendar, "days">): Read {
  const days: number[] = [];
  for (const name of items(list)) {
    const day = weekdayOf(name);
    if (day === undefined)
      return { problem: `"${name}" is not a day of the week. Use monday to sunday, or mon to sun.` };
    days.push(day);
  }
  return { kind: "weekly", calendar: { ...time, days: weekdays(days) } };
}

function readMonth(list: string, time: Omit<Calendar, "days">): Read {
  const days = daysOfMonth(list);
  return "problem" in days ? days : { kind: "monthly", calendar: { ...time, days } };
}

function daysOfMonth(list: string): DayRule | { readonly problem: string } {
  if (list === "the last day") return { kind: "some", daysOfMonth: [-1], weekdays: [] };
  const [, nth, name] = /^the (first|second|third|fourth|last) ([a-z]+)$/.exec(list) ?? [];
  const weekday = weekdayOf(name ?? "");
  if (nth !== undefined && weekday !== undefined)
    return { kind: "nth", nth: NTH[nth as keyof typeof NTH], weekday };
  const numbers: number[] = [];
  for (const item of items(list)) {
    const number = /^\d{1,2}$/.test(item) ? Number(item) : 0;
    if (number < 1 || number > 31)
      return {
        problem: `"${item}" is not a day of a month. Use numbers from 1 to 31, "the last day", or "the first" to "the last" of a weekday, as in "the last friday".`,
      };
    numbers.push(number);
  }
  return { kind: "some", daysOfMonth: sorted(numbers), weekdays: [] };
}

function weekdays(days: readonly number[]): DayRule {
  return { kind: "some", daysOfMonth: [], weekdays: sorted(days) };
}

function weekdayOf(name: string): number | undefined {
  const index = WEEKDAYS.findIndex((weekday) => weekday === name || weekday.slice(0, 3) === name);
  return index === -1 ? undefined : index;
}

function items(list: string): string[] {
  return list.split(",").map((item) => item.trim());
}

function sorted(numbers: readonly number[]): number[] {
  return [...new Set(numbers)].toSorted((a, b) => a - b);
}
