import { expect, it } from "vitest";
import { parseTimeOfDay, quietUntil } from "../../../src/scheduled-runs/quiet-hours.ts";

it.each<[string, string, string, string, string | undefined]>([
  ["22:00", "07:00", "UTC", "2026-11-18T23:00Z", "2026-11-19T07:00Z"],
  ["22:00", "07:00", "UTC", "2026-11-19T06:59Z", "2026-11-19T07:00Z"],
  ["22:00", "07:00", "UTC", "2026-11-19T07:00Z", undefined],
  ["22:00", "07:00", "UTC", "2026-11-18T21:59Z", undefined],
  ["12:00", "13:00", "UTC", "2026-11-18T12:30Z", "2026-11-18T13:00Z"],
  ["12:00", "13:00", "UTC", "2026-11-18T13:30Z", undefined],
  ["22:00", "07:00", "Asia/Kolkata", "2026-11-18T18:00Z", "2026-11-19T01:30Z"],
  // The clocks go forward at 01:00, and the end is skipped.
  ["22:00", "01:30", "Europe/London", "2026-03-29T00:30Z", "2026-03-29T01:30Z"],
  // The clocks go back at 02:00, and show the end twice.
  ["22:00", "01:30", "Europe/London", "2026-10-25T00:10Z", "2026-10-25T00:30Z"],
  ["22:00", "01:30", "Europe/London", "2026-10-25T01:10Z", undefined],
])("quiet from %s to %s in %s at %s ends at %s", (from, to, zone, moment, end) => {
  const hours = { from: parseTimeOfDay(from) ?? -1, to: parseTimeOfDay(to) ?? -1, zone };
  expect(quietUntil(hours, Date.parse(moment))).toBe(end === undefined ? undefined : Date.parse(end));
});
