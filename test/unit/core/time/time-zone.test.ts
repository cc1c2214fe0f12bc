import fc from "fast-check";
import { DateTime } from "luxon";
import { describe, expect, it } from "vitest";
import { civilTimeAt, isTimeZone, momentOf, parseIsoTime } from "../../../../src/core/time/time-zone.ts";

const DAY_MS = 24 * 3_600_000;

/** More zones than formatters are kept. */
const zone = fc.constantFrom(...Intl.supportedValuesOf("timeZone"));
/** From 1975, when all offsets had become whole minutes, to 2099. Luxon counts offsets in minutes. */
const moment = fc.integer({ min: Date.UTC(1975, 0), max: Date.UTC(2099, 0) });

/** Milliseconds by which the clocks are ahead of UTC, by another library. */
function offsetAt(at: number, inZone: string): number {
  return DateTime.fromMillis(at, { zone: inZone }).offset * 60_000;
}

describe("the clock of a zone", () => {
  it("shows what another library reads from it", () => {
    fc.assert(
      fc.property(zone, moment, (inZone, at) => {
        expect(civilTimeAt(at, inZone)).toBe(at + offsetAt(at, inZone));
      }),
      { numRuns: 500 },
    );
  });

  it("shows a civil time at its moment, and has not shown it before", () => {
    fc.assert(
      fc.property(zone, moment, (inZone, at) => {
        const civil = civilTimeAt(at, inZone);
        const first = momentOf(civil, inZone);
        const shows = [offsetAt(at - DAY_MS, inZone), offsetAt(at, inZone), offsetAt(at + DAY_MS, inZone)]
          .map((offset) => civil - offset)
          .filter((shown) => shown + offsetAt(shown, inZone) === civil);
        expect(first).toBe(Math.min(...shows));
      }),
      { numRuns: 500 },
    );
  });

  it("skips a civil time by as much as its change at that time", () => {
    fc.assert(
      fc.property(zone, moment, (inZone, civil) => {
        const at = momentOf(civil, inZone);
        const late = civilTimeAt(at, inZone) - civil;
        expect(late).toBeGreaterThanOrEqual(0);
        if (late > 0) expect(late).toBe(offsetAt(civil + DAY_MS, inZone) - offsetAt(civil - DAY_MS, inZone));
      }),
      { numRuns: 500 },
    );
  });

  it("is found for a year in the past and in the far future", () => {
    // London was 75 seconds behind until 1847.
    expect(civilTimeAt(Date.parse("1800-01-01T12:00Z"), "Europe/London")).toBe(
      Date.parse("1800-01-01T11:58:45Z"),
    );
    expect(momentOf(Date.parse("0001-01-01T00:00Z"), "UTC")).toBe(Date.parse("0001-01-01T00:00Z"));
    expect(momentOf(Date.parse("9999-07-01T12:00Z"), "Europe/London")).toBe(Date.parse("9999-07-01T11:00Z"));
  });
});

describe("the name of a zone", () => {
  it.each([
    "UTC",
    "Europe/London",
    "europe/london",
    "America/Argentina/Buenos_Aires",
    "Etc/GMT+5",
    "EST",
    "GB",
  ])("is known: %s", (name) => {
    expect(isTimeZone(name)).toBe(true);
  });

  it.each([
    "",
    "Mars/Base",
    "+01:00",
    "UTC+1",
    "GMT+5",
    "PST",
    "IST",
    "ist",
    "constructor",
    "Europe/London ",
  ])("is refused: %j", (name) => {
    expect(isTimeZone(name)).toBe(false);
  });
});

describe("a time in ISO form", () => {
  it("is read as another library reads it", () => {
    const two = (min: number, max: number): fc.Arbitrary<string> =>
      fc.integer({ min, max }).map((value) => String(value).padStart(2, "0"));
    const date = fc.tuple(
      fc.constantFrom("0000", "0099", "1900", "2024", "2026", "9999"),
      two(0, 13),
      two(0, 32),
    );
    const time = fc.tuple(
      two(0, 25),
      two(0, 61),
      fc.constantFrom("", ":00", ":59", ":30.5", ":30.123456789"),
    );
    const offset = fc.constantFrom("", "Z", "+01", "-0530", "+05:45", "-00:00");
    fc.assert(
      fc.property(date, time, offset, ([year, month, day], [hour, minute, seconds], suffix) => {
        // Luxon takes 24:00, which a schedule does not.
        fc.pre(hour !== "24");
        const text = `${year}-${month}-${day}T${hour}:${minute}${seconds}${suffix}`;
        const other = DateTime.fromISO(text, { zone: "UTC" });
        const found = other.isValid ? other.toMillis() : undefined;
        const expected = suffix === "" ? { civil: found } : { moment: found };
        expect(parseIsoTime(text)).toEqual(found === undefined ? undefined : expected);
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, string]>([
    ["2026-12-24 18:00z", "2026-12-24T18:00Z"],
    ["2026-12-24t18:00:01,25Z", "2026-12-24T18:00:01.250Z"],
    ["2026-12-24T18:00+01:00[Europe/Paris]", "2026-12-24T17:00Z"],
  ])("may be written as %s", (text, expected) => {
    expect(parseIsoTime(text)).toEqual({ moment: Date.parse(expected) });
  });

  it.each([
    "2026-12-24",
    "2026-02-29T09:00",
    "2026-12-24T24:00",
    "2026-12-24T18:60",
    "2026-12-24T18:00+25:00",
    "2026-12-24T18:00[Europe/Paris]",
    " 2026-12-24T18:00",
    "2026-12-24T18:00Z or so",
  ])("is not %j", (text) => {
    expect(parseIsoTime(text)).toBeUndefined();
  });
});
