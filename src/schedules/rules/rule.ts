/**
 * When something happens, as the parsers of schedules return it. Plain JSON.
 *
 * - `interval`: every so many milliseconds, counted from an anchor
 * - `calendar`: at these hours and minutes of the days that match, on the clock of a time zone
 * - `once`: at one moment
 */
export type Rule =
  | { readonly kind: "interval"; readonly everyMs: number }
  | CalendarRule
  | { readonly kind: "once"; readonly at: number };

export interface CalendarRule {
  readonly kind: "calendar";
  readonly zone: string;
  /** 0 to 59, ascending. */
  readonly minutes: readonly number[];
  /** 0 to 23, ascending. */
  readonly hours: readonly number[];
  /** 1 to 12, ascending. */
  readonly months: readonly number[];
  readonly days: DayRule;
}

/**
 * The days of a month.
 *
 * - `every`: all of them
 * - `some`: those with one of these numbers or weekdays; either list may be empty, and -1 is the last day of the month
 * - `nth`: the first (1) to fourth, or the last (-1), of a weekday (0 is Sunday)
 */
export type DayRule =
  | { readonly kind: "every" }
  | { readonly kind: "some"; readonly daysOfMonth: readonly number[]; readonly weekdays: readonly number[] }
  | { readonly kind: "nth"; readonly nth: number; readonly weekday: number };

/** The form in which a schedule is written. */
export type ScheduleKind = "interval" | "daily" | "weekday" | "weekly" | "monthly" | "cron" | "once";
