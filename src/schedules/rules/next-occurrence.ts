import { civilDayOf, DAY_MS, MINUTE_MS, startOfDay, startOfNextMonth } from "../../core/time/civil-time.ts";
import type { CivilDay, CivilMs } from "../../core/time/civil-time.ts";
import type { CalendarRule, DayRule, Rule } from "./rule.ts";
import { civilTimeAt, momentOf } from "../../core/time/time-zone.ts";

/** A rule that matches no day in so many years never does. 29 February on one weekday comes back within 40 years. */
const MOST_YEARS = 41;
const MOST_MS = MOST_YEARS * 366 * DAY_MS;

/**
 * Returns the first occurrence after a moment, in epoch milliseconds. Undefined if there is none any more.
 *
 * On a night when the clocks change, an occurrence at a skipped time runs once, as much later as was skipped, and one
 * at a repeated time runs once, at the first.
 *
 * @param anchor the moment from which an interval counts
 */
export function nextOccurrence(rule: Rule, after: number, anchor: number): number | undefined {
  switch (rule.kind) {
    case "once":
      return rule.at > after ? rule.at : undefined;
    case "interval": {
      const periods = Math.max(0, Math.floor((after - anchor) / rule.everyMs)) + 1;
      return anchor + periods * rule.everyMs;
    }
    case "calendar":
      return nextOnCalendar(rule, after);
  }
}

function nextOnCalendar(rule: CalendarRule, after: number): number | undefined {
  const { zone } = rule;
  const now = civilTimeAt(after, zone);
  // A time that was skipped lately may stand for a moment that is still to come.
  const offsetBefore = civilTimeAt(after - DAY_MS, zone) - (after - DAY_MS);
  let civil = nextCivil(rule, Math.min(now, after + offsetBefore));
  while (civil !== undefined) {
    const moment = momentOf(civil, zone);
    if (moment > after) return firstOf(rule, civil, moment, after);
    // The clocks show this time for the second time. All times until the change are over.
    civil = nextCivil(rule, Math.max(civil, after + (civil - moment)));
  }
  return undefined;
}

/** A skipped time comes later than times that the clocks show right after the change. */
function firstOf(rule: CalendarRule, skipped: CivilMs, moment: number, after: number): number {
  let first = moment;
  let civil = nextCivil(rule, skipped);
  if (civil === undefined || civil - skipped >= DAY_MS) return moment;
  const shown = civilTimeAt(moment, rule.zone);
  while (civil !== undefined && civil < shown) {
    const other = momentOf(civil, rule.zone);
    if (other > after) first = Math.min(first, other);
    civil = nextCivil(rule, civil);
  }
  return first;
}

/** Returns the first time of a rule that is later than this one, on a calendar without zones. */
function nextCivil(rule: CalendarRule, after: CivilMs): CivilMs | undefined {
  const { days, hours, minutes, months } = rule;
  const first = Math.floor(after / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  for (let day = startOfDay(first); day < first + MOST_MS;) {
    const civil = civilDayOf(day);
    if (!months.includes(civil.month)) {
      day = startOfNextMonth(day);
      continue;
    }
    if (matches(days, civil)) {
      const time = nextTime(hours, minutes, first - day);
      if (time !== undefined) return day + time;
    }
    day += DAY_MS;
  }
  return undefined;
}

/** Returns the first time of day that is not before this one, in milliseconds since midnight. */
function nextTime(hours: readonly number[], minutes: readonly number[], from: number): number | undefined {
  const least = Math.max(0, from / MINUTE_MS);
  for (const hour of hours) {
    if (hour * 60 + 59 < least) continue;
    for (const minute of minutes) if (hour * 60 + minute >= least) return (hour * 60 + minute) * MINUTE_MS;
  }
  return undefined;
}

function matches(rule: DayRule, { day, daysInMonth, weekday }: CivilDay): boolean {
  switch (rule.kind) {
    case "every":
      return true;
    case "some":
      return (
        rule.daysOfMonth.includes(day) ||
        rule.weekdays.includes(weekday) ||
        (day === daysInMonth && rule.daysOfMonth.includes(-1))
      );
    case "nth":
      if (weekday !== rule.weekday) return false;
      return rule.nth === -1 ? day + 7 > daysInMonth : Math.ceil(day / 7) === rule.nth;
  }
}
