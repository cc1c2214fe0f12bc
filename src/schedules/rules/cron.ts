import type { CalendarRule, DayRule } from "./rule.ts";

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS = {
  minute: { name: "minute", least: 0, most: 59 },
  hour: { name: "hour", least: 0, most: 23 },
  day: { name: "day of the month", least: 1, most: 31 },
  month: { name: "month", least: 1, most: 12, names: MONTHS },
  // Both 0 and 7 are Sunday.
  weekday: { name: "weekday", least: 0, most: 7, names: WEEKDAYS },
} as const satisfies Record<string, Field>;

/**
 * Parses the five fields of a cron expression, without a zone: `*`, numbers, names, ranges, steps and lists. As in
 * other crons, a day matches if its number or its weekday does, once both are given.
 *
 * @returns the rule, or a sentence that says what is wrong
 */
export function parseCron(expression: string): Omit<CalendarRule, "zone"> | string {
  const parts = expression.toLowerCase().split(/\s+/);
  const [minute, hour, day, month, weekday] = parts;
  if (
    minute === undefined ||
    hour === undefined ||
    day === undefined ||
    month === undefined ||
    weekday === undefined ||
    parts.length !== 5
  )
    return `A cron expression has five fields (minute, hour, day of the month, month, weekday), and this has ${parts.length}.`;
  const minutes = parseField(minute, FIELDS.minute);
  const hours = parseField(hour, FIELDS.hour);
  const daysOfMonth = parseField(day, FIELDS.day);
  const months = parseField(month, FIELDS.month);
  const weekdays = parseField(weekday, FIELDS.weekday);
  for (const field of [minutes, hours, daysOfMonth, months, weekdays])
    if (typeof field === "string") return field;
  return {
    kind: "calendar",
    minutes: minutes as number[],
    hours: hours as number[],
    months: months as number[],
    days: daysOf(day, daysOfMonth as number[], weekday, weekdays as number[]),
  };
}

function daysOf(
  day: string,
  daysOfMonth: readonly number[],
  weekday: string,
  weekdays: readonly number[],
): DayRule {
  const isAnyDay = day === "*";
  const isAnyWeekday = weekday === "*";
  if (isAnyDay && isAnyWeekday) return { kind: "every" };
  const numbers = [...new Set(weekdays.map((number) => number % 7))].toSorted((a, b) => a - b);
  return {
    kind: "some",
    daysOfMonth: isAnyDay ? [] : daysOfMonth,
    weekdays: isAnyWeekday ? [] : numbers,
  };
}

function parseField(text: string, field: Field): number[] | string {
  const found = new Set<number>();
  for (const item of text.split(",")) {
    const range = parseItem(item, field);
    if (range === undefined)
      return `"${item}" does not fit the field "${field.name}" of the cron expression, which takes *, ${field.least} to ${field.most}, ranges such as ${field.least}-${field.most} and steps such as */5.`;
    for (let value = range.from; value <= range.to; value += range.step) found.add(value);
  }
  return [...found].toSorted((a, b) => a - b);
}

function parseItem(
  item: string,
  field: Field,
): { readonly from: number; readonly to: number; readonly step: number } | undefined {
  const match = /^(?:(\*)|([a-z]{3}|\d{1,2})(?:-([a-z]{3}|\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(item);
  if (match === null) return undefined;
  const [, star, first, last, stepText] = match;
  const step = stepText === undefined ? 1 : Number(stepText);
  const from = star === undefined ? numberOf(first, field) : field.least;
  // `5/10` means: from 5 on, every 10.
  const isOpen = star !== undefined || (last === undefined && stepText !== undefined);
  const to = isOpen ? field.most : last === undefined ? from : numberOf(last, field);
  if (from === undefined || to === undefined || step < 1) return undefined;
  if (from < field.least || to > field.most || from > to) return undefined;
  return { from, to, step };
}

function numberOf(text: string | undefined, { least, names }: Field): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const index = names?.indexOf(text) ?? -1;
  return index === -1 ? undefined : index + (least === 1 ? 1 : 0);
}
