import { describe, expect, it } from "vitest";
import { nextOccurrence } from "../../../src/schedules/rules/next-occurrence.ts";
import { parseSchedule } from "../../../src/schedules/rules/parse-schedule.ts";

/** The next three occurrences of a schedule, as UTC times. */
function occurrences(schedule: string, from: string, zone?: string, count = 3): string[] {
  const parsed = parseSchedule(schedule, zone);
  if ("problem" in parsed) throw new Error(parsed.problem);
  const found: string[] = [];
  const start = Date.parse(from);
  for (let at: number | undefined = start; found.length < count;) {
    at = nextOccurrence(parsed.rule, at, start);
    if (at === undefined) break;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

const NOW = "2026-11-18T12:00:00Z"; // a Wednesday

describe("a schedule", () => {
  it.each<[string, string, readonly string[]]>([
    ["every 15 minutes", "UTC", ["2026-11-18T12:15", "2026-11-18T12:30", "2026-11-18T12:45"]],
    ["every 1 hour", "UTC", ["2026-11-18T13:00", "2026-11-18T14:00", "2026-11-18T15:00"]],
    ["every day at 09:00", "Europe/London", ["2026-11-19T09:00", "2026-11-20T09:00", "2026-11-21T09:00"]],
    [
      "every day at 09:00 in Asia/Kolkata",
      "UTC",
      ["2026-11-19T03:30", "2026-11-20T03:30", "2026-11-21T03:30"],
    ],
    ["every weekday at 09:00", "UTC", ["2026-11-19T09:00", "2026-11-20T09:00", "2026-11-23T09:00"]],
    [
      "every week on monday,wednesday at 13:30",
      "UTC",
      ["2026-11-18T13:30", "2026-11-23T13:30", "2026-11-25T13:30"],
    ],
    ["every week on Mon, sun at 08:00", "UTC", ["2026-11-22T08:00", "2026-11-23T08:00", "2026-11-29T08:00"]],
    ["every month on 1,15 at 07:00", "UTC", ["2026-12-01T07:00", "2026-12-15T07:00", "2027-01-01T07:00"]],
    [
      "every month on the last friday at 17:00",
      "UTC",
      ["2026-11-27T17:00", "2026-12-25T17:00", "2027-01-29T17:00"],
    ],
    [
      "every month on the first mon at 17:00",
      "UTC",
      ["2026-12-07T17:00", "2027-01-04T17:00", "2027-02-01T17:00"],
    ],
    [
      "every month on the last day at 17:00",
      "UTC",
      ["2026-11-30T17:00", "2026-12-31T17:00", "2027-01-31T17:00"],
    ],
    ["every month on 31 at 17:00", "UTC", ["2026-12-31T17:00", "2027-01-31T17:00", "2027-03-31T17:00"]],
    ["cron 0 9 * * 1-5", "UTC", ["2026-11-19T09:00", "2026-11-20T09:00", "2026-11-23T09:00"]],
    [
      "cron */30 8-9 * * * in Europe/Berlin",
      "UTC",
      ["2026-11-19T07:00", "2026-11-19T07:30", "2026-11-19T08:00"],
    ],
    ["cron 0 0 29 2 *", "UTC", ["2028-02-29T00:00", "2032-02-29T00:00", "2036-02-29T00:00"]],
    ["cron 0 12 13 * fri", "UTC", ["2026-11-20T12:00", "2026-11-27T12:00", "2026-12-04T12:00"]],
    ["cron 5/20 0 1 jan 7", "UTC", ["2027-01-01T00:05", "2027-01-01T00:25", "2027-01-01T00:45"]],
    ["at 2026-12-24T18:00", "Europe/Berlin", ["2026-12-24T17:00"]],
    ["at 2026-12-24T18:00+02:00", "UTC", ["2026-12-24T16:00"]],
    ["at 2026-12-24T18:00Z", "Europe/Berlin", ["2026-12-24T18:00"]],
    ["at 2026-12-24T18:00 in America/New_York", "UTC", ["2026-12-24T23:00"]],
    ["at 2020-01-01T00:00", "UTC", []],
    ["cron 0 0 30 2 *", "UTC", []],
  ])("means what it says: %s", (schedule, zone, expected) => {
    expect(occurrences(schedule, NOW, zone)).toEqual(expected);
  });

  it.each<[string, string, string, string, readonly string[]]>([
    // 01:30 does not exist on 29 March 2026 in London, and exists twice on 25 October.
    [
      "runs once in a gap",
      "every day at 01:30",
      "Europe/London",
      "2026-03-28T12:00Z",
      ["2026-03-29T01:30", "2026-03-30T00:30"],
    ],
    [
      "runs once in an overlap",
      "every day at 01:30",
      "Europe/London",
      "2026-10-24T12:00Z",
      ["2026-10-25T00:30", "2026-10-26T01:30"],
    ],
    [
      "follows the clock in spring",
      "every day at 09:00",
      "America/New_York",
      "2026-03-07T15:00Z",
      ["2026-03-08T13:00", "2026-03-09T13:00"],
    ],
    [
      "follows the clock in autumn",
      "every day at 09:00",
      "America/New_York",
      "2026-10-31T15:00Z",
      ["2026-11-01T14:00", "2026-11-02T14:00"],
    ],
    // Lord Howe goes from 02:00 to 02:30.
    [
      "keeps the order in a gap of half an hour",
      "cron 10,20,35 2 * * *",
      "Australia/Lord_Howe",
      "2026-10-03T13:00Z",
      ["2026-10-03T15:35", "2026-10-03T15:40", "2026-10-03T15:50"],
    ],
    // Samoa has no 30 December 2011.
    [
      "runs once where a day is skipped",
      "every day at 09:00",
      "Pacific/Apia",
      "2011-12-29T12:00Z",
      ["2011-12-29T19:00", "2011-12-30T19:00", "2011-12-31T19:00"],
    ],
    [
      "repeats no minute in an overlap",
      "cron */30 1 * * *",
      "Europe/London",
      "2026-10-24T23:45Z",
      ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-26T01:00"],
    ],
    [
      "runs every hour of a short day",
      "cron 0 * * * *",
      "Europe/London",
      "2026-03-29T00:30Z",
      ["2026-03-29T01:00", "2026-03-29T02:00"],
    ],
  ])("%s", (_name, schedule, zone, from, expected) => {
    expect(occurrences(schedule, from, zone, expected.length)).toEqual(expected);
  });

  it.each<[string, RegExp]>([
    ["every day at 9:00", /"9:00" is not a time of day.*"09:00"/],
    ["every day at 24:00", /is not a time of day/],
    ["every now and then", /is not a schedule\. Write "every 15 minutes"/],
    ["every 0 minutes", /at least 1 minute/],
    ["every week on funday at 09:00", /"funday" is not a day of the week/],
    ["every month on 32 at 09:00", /"32" is not a day of a month/],
    ["every month on the fifth friday at 09:00", /is not a day of a month/],
    ["every day at 09:00 in Mars/Base", /"Mars\/Base" is not a time zone/],
    ["every 5 minutes in Europe/London", /Remove "in Europe\/London"/],
    ["cron 0 9 * *", /five fields.*has 4/],
    ["cron 60 9 * * *", /"60" does not fit the field "minute".*0 to 59/],
    ["cron 0 9 * * 5-1", /"5-1" does not fit the field "weekday"/],
    ["cron 0 9 * foo *", /"foo" does not fit the field "month"/],
    ["at tomorrow", /is not a moment/],
    ["at 2026-02-30T09:00", /is not a moment/],
  ])("says what is wrong and how to write it: %s", (schedule, expected) => {
    expect(parseSchedule(schedule, "UTC")).toEqual({ problem: expect.stringMatching(expected) as string });
  });

  it.each(["every day at 09:00", "cron 0 9 * * *", "at 2026-12-24T18:00"])(
    "is refused without a zone: %s",
    (schedule) => {
      expect(parseSchedule(schedule, undefined)).toEqual({
        problem: expect.stringContaining("getDefaultTimezone()") as string,
      });
    },
  );

  it("needs no zone for an interval", () => {
    expect(parseSchedule("every 2 hours", undefined)).toMatchObject({ kind: "interval", zone: undefined });
  });
});
