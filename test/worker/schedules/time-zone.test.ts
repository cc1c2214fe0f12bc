import { describe, expect, it } from "vitest";
import { civilTimeAt, isTimeZone, momentOf } from "../../../src/core/time/time-zone.ts";

describe("the clock of a zone in workerd", () => {
  it.each<[string, string, string, string]>([
    ["an ordinary time", "Asia/Kathmandu", "2026-11-23T09:00", "2026-11-23T03:15"],
    ["a skipped time", "Europe/London", "2026-03-29T01:30", "2026-03-29T01:30"],
    ["a time that is shown twice", "Europe/London", "2026-10-25T01:30", "2026-10-25T00:30"],
    ["a skipped half hour", "Australia/Lord_Howe", "2026-10-04T02:10", "2026-10-03T15:40"],
    ["a half hour that is shown twice", "Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45"],
    ["a skipped day", "Pacific/Apia", "2011-12-30T09:00", "2011-12-30T19:00"],
    ["a time without changes", "UTC", "2026-11-23T09:00", "2026-11-23T09:00"],
  ])("shows %s", (_name, zone, civil, moment) => {
    expect(new Date(momentOf(Date.parse(`${civil}Z`), zone)).toISOString().slice(0, 16)).toBe(moment);
  });

  it("counts the seconds of old offsets", () => {
    const moment = Date.parse("1800-01-01T12:00Z");
    expect(civilTimeAt(moment, "Europe/London")).toBe(moment - 75_000);
  });

  it("knows the names of zones", () => {
    expect(["Europe/London", "UTC", "IST", "Mars/Base"].map(isTimeZone)).toEqual([true, true, false, false]);
  });
});
