import { civilDayOf, DAY_MS, daysInMonth, MINUTE_MS, startOfDay } from "../core/time/civil-time.ts";
import type { CivilMs } from "../core/time/civil-time.ts";
import { civilTimeAt, momentOf, parseIsoTime } from "../core/time/time-zone.ts";
import { calendarWords } from "./calendar-words.ts";
import type { CalendarWords } from "./calendar-words.ts";
import type { FormContext, Reading } from "./form.ts";
import { withLatinDigits } from "./read-number.ts";

export type TimeContext = Pick<FormContext, "language" | "now" | "say" | "timeZone">;

/** Returns the date that a text names, such as `2026-12-24`. */
export function readDate(text: string, context: TimeContext): Reading {
  const { language, now, say, timeZone } = context;
  const found = parseDate(text, civilTimeAt(now, timeZone), language);
  if (found === undefined) return { kind: "problem", problem: say("formNotDate") };
  if (typeof found === "number") return { kind: "value", value: isoDate(found) };
  return { kind: "problem", problem: unclear(found, context) };
}

function unclear(dates: readonly CivilMs[], { say }: TimeContext): string {
  const [one = "", other = ""] = dates.map(isoDate);
  return say("formDateUnclear", { one, other });
}

function isoDate(civil: CivilMs): string {
  return new Date(civil).toISOString().slice(0, 10);
}

/** Returns the moment that a text names. A time without a date is the next one of today or tomorrow. */
export function readDateTime(
  text: string,
  context: TimeContext,
): { readonly kind: "moment"; readonly moment: number } | Extract<Reading, { kind: "problem" }> {
  const { language, now, say, timeZone } = context;
  const refused = { kind: "problem", problem: say("formNotDateTime") } as const;
  const said = plain(text);
  const iso = parseIsoTime(said.toUpperCase());
  if (iso !== undefined)
    return { kind: "moment", moment: "moment" in iso ? iso.moment : momentOf(iso.civil, timeZone) };
  const later = calendarWords(language).find((words) => words.soon.has(said));
  const soon = later?.soon.get(said);
  if (soon !== undefined) return { kind: "moment", moment: now + soon };
  const { date, minutes } = withTime(said) ?? {};
  if (date === undefined || minutes === undefined) return refused;
  const civilNow = civilTimeAt(now, timeZone);
  if (date === "") {
    const today = startOfDay(civilNow) + minutes * MINUTE_MS;
    return { kind: "moment", moment: momentOf(today > civilNow ? today : today + DAY_MS, timeZone) };
  }
  const day = parseDate(date, civilNow, language);
  if (day === undefined) return refused;
  if (typeof day !== "number") return { kind: "problem", problem: unclear(day, context) };
  return { kind: "moment", moment: momentOf(day + minutes * MINUTE_MS, timeZone) };
}

const TIME =
  /^(.*?)(?:^|[\s,])(?:at |um |@ ?|الساعة )?(\d{1,2})(?:[:h.](\d{2}))?\s*(uhr|h|o'clock|[ap]\.?m\.?|ص|م)?$/u;

/** Cuts the time of day off the end of a text. Undefined if there is none. */
function withTime(said: string): { readonly date: string; readonly minutes: number } | undefined {
  const [whole, before = "", hours, minutes, mark] = TIME.exec(said) ?? [];
  if (whole === undefined || hours === undefined) return undefined;
  // A single number may be a day, and two with a dot between them a date.
  const rest = said.slice(before.length).replace(/^[\s,]+/, "");
  const isMarked = mark !== undefined || /^(?:at |um |@|الساعة )/.test(rest);
  if (!isMarked && !/\d[:h]\d\d$/.test(rest)) return undefined;
  const isHalf = mark !== undefined && /^[apصم]/.test(mark);
  const isAfternoon = mark !== undefined && /^[pم]/.test(mark);
  const hour = isHalf ? (Number(hours) % 12) + (isAfternoon ? 12 : 0) : Number(hours);
  const minute = Number(minutes ?? 0);
  if (hour > 23 || minute > 59 || (isHalf && (Number(hours) > 12 || Number(hours) === 0))) return undefined;
  return { date: before.replace(/[\s,]+$/, ""), minutes: hour * 60 + minute };
}

/**
 * Returns the date of a text, as the beginning of its day. Undefined if it is none, and both dates that it may be if only
 * a language could tell which of two numbers is the month. A date without a year is the next one.
 */
export function parseDate(
  text: string,
  civilNow: CivilMs,
  language: string | undefined,
): CivilMs | readonly [CivilMs, CivilMs] | undefined {
  const said = plain(text);
  const today = startOfDay(civilNow);
  const known = calendarWords(language);
  for (const words of known) {
    const named = wordDate(said, today, words);
    if (named !== undefined) return named;
  }
  const [, year, month, day] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(said) ?? [];
  if (year !== undefined) return dateOf(Number(year), Number(month), Number(day));
  const [, one, mark, two, full] =
    /^(\d{1,2})([./-])\s?(\d{1,2})(?:\2\s?(\d{4}|\d{2}))?\.?$/.exec(said) ?? [];
  if (one === undefined) return undefined;
  const dayFirst = nextDate(full, Number(two), Number(one), today);
  const monthFirst = nextDate(full, Number(one), Number(two), today);
  if (mark === "." || dayFirst === undefined || monthFirst === undefined || dayFirst === monthFirst)
    return dayFirst ?? (mark === "." ? undefined : monthFirst);
  const isDayFirst = known[0]?.isDayFirst;
  return isDayFirst === undefined ? [dayFirst, monthFirst] : isDayFirst ? dayFirst : monthFirst;
}

/** "tomorrow", "in 3 days", "friday", "24 december", "december 24, 2026" */
function wordDate(said: string, today: CivilMs, words: CalendarWords): CivilMs | undefined {
  const days = words.days.get(said);
  if (days !== undefined) return today + days * DAY_MS;
  const [, name = ""] = /^(?:on |next |this |am |nächsten |kommenden |يوم )?(.+)$/.exec(said) ?? [];
  const weekday = words.weekdays.get(name.replace(/\.$/, ""));
  if (weekday !== undefined) {
    const ahead = (weekday - civilDayOf(today).weekday + 7) % 7;
    return today + (ahead === 0 ? 7 : ahead) * DAY_MS;
  }
  const parts = said
    .replaceAll(/[.,]/g, " ")
    .split(/\s+/)
    .filter((part) => !/^(?:the|of|de|der|den)$/.test(part));
  const months = parts.flatMap((part) => words.months.get(part) ?? []);
  const numbers = parts.flatMap((part) => /^(\d{1,4})(?:st|nd|rd|th)?$/.exec(part)?.[1] ?? []);
  const [month] = months;
  const [day, year] = numbers;
  const isWhole = parts.length === months.length + numbers.length && numbers.length <= 2;
  if (!isWhole || months.length !== 1 || month === undefined || day === undefined) return undefined;
  return nextDate(year, month, Number(day), today);
}

/** @param year four digits, two digits, or none for the next such date */
function nextDate(year: string | undefined, month: number, day: number, today: CivilMs): CivilMs | undefined {
  if (year !== undefined) {
    if (year.length !== 2 && year.length !== 4) return undefined;
    return dateOf(Number(year) + (year.length === 2 ? 2000 : 0), month, day);
  }
  const thisYear = civilDayOf(today).year;
  // The 29th of February is up to eight years away.
  for (let ahead = 0; ahead <= 8; ahead += 1) {
    const date = dateOf(thisYear + ahead, month, day);
    if (date !== undefined && date >= today) return date;
  }
  return undefined;
}

function dateOf(year: number, month: number, day: number): CivilMs | undefined {
  if (year < 1000 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return Date.UTC(year, month - 1, day);
}

function plain(text: string): string {
  return withLatinDigits(text)
    .normalize("NFC")
    .replaceAll(/\p{Cf}/gu, "")
    .toLowerCase()
    .replaceAll(/\s+/g, " ")
    .replace(/[\s!]+$/, "")
    .trim();
}
