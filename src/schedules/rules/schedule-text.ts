type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
type Hour = `${"0" | "1"}${Digit}` | "20" | "21" | "22" | "23";
/** The second digit of the minutes is checked when the bot starts. */
type TimeOfDay = `${Hour}:${"0" | "1" | "2" | "3" | "4" | "5"}${number}`;
type Weekday = "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";
type ShortWeekday = "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun";
type Weekdays = Weekday | ShortWeekday | `${Weekday | ShortWeekday},${string}`;
type Nth = "first" | "second" | "third" | "fourth" | "last";
type MonthDays =
  | `${number}`
  | `${number},${string}`
  | `the ${Nth} ${Weekday | ShortWeekday}`
  | "the last day";
type InZone<Text extends string> = Text | `${Text} in ${string}`;

/**
 * When a task runs.
 *
 * - `every 15 minutes`, `every 2 hours`
 * - `every day at 09:00`, `every weekday at 09:00`
 * - `every week on monday,wednesday at 09:00`; short names such as `mon` are known, too
 * - `every month on 1,15 at 09:00`, `every month on the last friday at 09:00`, `every month on the last day at 09:00`
 * - `cron 0 9 * * 1-5`: minute, hour, day of the month, month, weekday
 * - `at 2026-12-24T18:00`, or with an offset as in `at 2026-12-24T18:00+01:00`: once
 *
 * Schedules on the clock of a place end with ` in Europe/London`, or take the zone of the task or of the bot.
 */
export type ScheduleText =
  | `every ${number} ${"minute" | "minutes" | "hour" | "hours"}`
  | InZone<`every ${"day" | "weekday"} at ${TimeOfDay}`>
  | InZone<`every week on ${Weekdays} at ${TimeOfDay}`>
  | InZone<`every month on ${MonthDays} at ${TimeOfDay}`>
  | `cron ${string}`
  | `at ${number}-${string}`;
