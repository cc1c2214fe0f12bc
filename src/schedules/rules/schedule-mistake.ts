import type { ParsedSchedule } from "./parse-schedule.ts";

/**
 * Returns what is wrong about a declared schedule that can be read all the same, with the fix. People's own schedules are
 * not held to it.
 *
 * @param timezone the zone of the task, if nothing but its schedule uses it
 */
export function scheduleMistake(
  schedule: string,
  when: Exclude<ParsedSchedule, { readonly problem: string }>,
  timezone: string | undefined,
): string | undefined {
  const [, count = "", unit = "", plural = ""] =
    /^every (\d+) (minute|hour)(s?)$/i.exec(schedule.trim()) ?? [];
  if (unit !== "" && (Number(count) === 1) !== (plural === ""))
    return `"${schedule}" is misspelt. Write "every ${count} ${unit}${plural === "" ? "s" : ""}".`;
  const [, list = ""] = /^every (?:week|month) on ([^ ].*?) at /i.exec(schedule.trim()) ?? [];
  const days = list.split(",").map((day) => day.trim().toLowerCase().replace(WEEKDAY_END, ""));
  const twice = days.find((day, index) => days.indexOf(day) !== index);
  if (twice !== undefined) return `"${schedule}" names a day twice: "${twice}". Name it once.`;
  if (timezone === undefined || when.zone === timezone) return undefined;
  return when.zone === undefined
    ? `"${schedule}" is the same everywhere, so the task takes no time zone. Remove "timezone".`
    : `"${schedule}" names the zone "${when.zone}", and the task's timezone is "${timezone}". Remove one of them.`;
}

/** The end of a weekday's long name: a day may be named in both ways. */
const WEEKDAY_END = /(?<=^(?:mon|tue|wed|thu|fri|sat|sun))[a-z]*day$/;
