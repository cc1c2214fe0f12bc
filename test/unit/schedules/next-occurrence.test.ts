import fc from "fast-check";
import { DateTime } from "luxon";
import { describe, expect, it } from "vitest";
import { parseCron } from "../../../src/schedules/rules/cron.ts";
import { nextOccurrence } from "../../../src/schedules/rules/next-occurrence.ts";
import type { CalendarRule, Rule } from "../../../src/schedules/rules/rule.ts";
import { leastWork, NOISE } from "../../support/least-work.ts";

const ZONES = [
  "UTC",
  "Europe/London",
  "America/New_York",
  "America/St_Johns",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Africa/Casablanca",
  "Pacific/Apia",
  "Pacific/Chatham",
] as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const zone = fc.constantFrom(...ZONES);
/** From 2005 to 2035, to the second. */
const moment = fc.integer({ min: 1_104_537_600, max: 2_051_222_400 }).map((seconds) => seconds * 1000);
const some = (min: number, max: number, most: number): fc.Arbitrary<string> =>
  fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: most }).map((list) => list.join(","));
const cron = fc
  .tuple(
    some(0, 59, 3),
    some(0, 23, 4),
    fc.oneof(fc.constant("*"), some(1, 31, 3)),
    fc.oneof(fc.constant("*"), some(1, 12, 3)),
    fc.oneof(fc.constant("*"), some(0, 6, 3)),
  )
  .map((fields) => fields.join(" "));

function ruleOf(expression: string, inZone: string): CalendarRule {
  const parsed = parseCron(expression);
  if (typeof parsed === "string") throw new Error(parsed);
  return { ...parsed, zone: inZone };
}

/** The wall-clock time that another library shows. */
function shown(at: number, { zone: inZone }: CalendarRule): DateTime {
  return DateTime.fromMillis(at, { zone: inZone });
}

function matches({ days, hours, minutes, months }: CalendarRule, time: DateTime): boolean {
  const isDay =
    days.kind === "every" ||
    (days.kind === "some" &&
      (days.daysOfMonth.includes(time.day) || days.weekdays.includes(time.weekday % 7)));
  return isDay && months.includes(time.month) && hours.includes(time.hour) && minutes.includes(time.minute);
}

/** Whether the clocks of the zone change within a day of this moment. */
function isNearChange(at: number, rule: CalendarRule): boolean {
  const offsets = [at - DAY_MS, at, at + DAY_MS].map((near) => shown(near, rule).offset);
  return new Set(offsets).size > 1;
}

describe("the next occurrence", () => {
  it("is later, and the clock of the zone then shows a time of the rule", () => {
    fc.assert(
      fc.property(cron, zone, moment, (expression, inZone, after) => {
        const rule = ruleOf(expression, inZone);
        const next = nextOccurrence(rule, after, 0);
        if (next === undefined) return;
        expect(next).toBeGreaterThan(after);
        if (!isNearChange(next, rule)) expect(matches(rule, shown(next, rule))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("skips no time of the rule", () => {
    fc.assert(
      fc.property(cron, zone, moment, fc.nat(2 * 24 * 60), (expression, inZone, after, minutes) => {
        const rule = ruleOf(expression, inZone);
        const next = nextOccurrence(rule, after, 0) ?? Number.POSITIVE_INFINITY;
        const between = Math.floor((after + minutes * 60_000) / 60_000) * 60_000;
        if (between <= after || between >= next || isNearChange(between, rule)) return;
        expect(matches(rule, shown(between, rule))).toBe(false);
      }),
      { numRuns: 1500 },
    );
  });

  it("is the same from every moment before it", () => {
    fc.assert(
      fc.property(
        cron,
        zone,
        moment,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (expression, inZone, after, part) => {
          const rule = ruleOf(expression, inZone);
          const next = nextOccurrence(rule, after, 0);
          if (next === undefined) return;
          const between = after + Math.floor((next - 1 - after) * part);
          expect(nextOccurrence(rule, between, 0)).toBe(next);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("comes once on every day of a year, also when the clocks change", () => {
    fc.assert(
      fc.property(
        zone.filter((name) => name !== "Pacific/Apia"),
        fc.integer({ min: 2005, max: 2035 }),
        fc.nat(23),
        fc.nat(59),
        (inZone, year, hour, minute) => {
          const rule = ruleOf(`${minute} ${hour} * * *`, inZone);
          const end = DateTime.fromObject({ year: year + 1 }, { zone: inZone }).toMillis();
          const days: string[] = [];
          let at = DateTime.fromObject({ year }, { zone: inZone }).toMillis() - 1;
          for (;;) {
            at = nextOccurrence(rule, at, 0) ?? end;
            if (at >= end) break;
            days.push(shown(at, rule).toISODate() ?? "");
          }
          expect(days).toHaveLength(year % 4 === 0 ? 366 : 365);
          expect(new Set(days).size).toBe(days.length);
        },
      ),
      { numRuns: 12 },
    );
  });

  it("is the time that another library reads from the same words", () => {
    fc.assert(
      fc.property(zone, moment, fc.nat(23), fc.nat(59), (inZone, after, hour, minute) => {
        const rule = ruleOf(`${minute} ${hour} * * *`, inZone);
        if (isNearChange(after, rule)) return;
        const now = DateTime.fromMillis(after, { zone: inZone });
        const today = now.set({ hour, minute, second: 0, millisecond: 0 });
        const expected = today.toMillis() > after ? today : today.plus({ days: 1 });
        expect(nextOccurrence(rule, after, 0)).toBe(expected.toMillis());
      }),
      { numRuns: 500 },
    );
  });

  it("keeps the rhythm of an interval, however late it is asked for", () => {
    fc.assert(
      fc.property(
        moment,
        fc.integer({ min: 1, max: 10_000 }),
        fc.nat(1_000_000_000),
        (anchor, minutes, later) => {
          const rule: Rule = { kind: "interval", everyMs: minutes * 60_000 };
          const next = nextOccurrence(rule, anchor + later, anchor) ?? 0;
          expect((next - anchor) % rule.everyMs).toBe(0);
          expect(next - (anchor + later)).toBeGreaterThan(0);
          expect(next - (anchor + later)).toBeLessThanOrEqual(rule.everyMs);
        },
      ),
    );
  });

  it("costs at most as much as a hundred formatted times", NOISE, () => {
    const rules = ["0 9 * * *", "0 9 1 * *", "*/15 * * * *", "0 9 * * 1-5", "0 9 29 2 *"].flatMap(
      (expression) => ZONES.map((inZone) => ruleOf(expression, inZone)),
    );
    const formatters = ZONES.map((timeZone) => new Intl.DateTimeFormat("en-US", { timeZone }));
    const moments = Array.from({ length: 41 }, (_, index) => 1_790_000_000_000 + index * 11 * DAY_MS);
    const occurrences = leastWork(5, () => {
      for (const from of moments) for (const rule of rules) nextOccurrence(rule, from, 0);
    });
    const formatted = leastWork(5, () => {
      for (const from of moments) {
        for (let times = 0; times < 10; times += 1) for (const one of formatters) one.format(from + times);
      }
    });
    const timesAsMuch = occurrences / (moments.length * rules.length) / (formatted / (moments.length * 100));
    expect(timesAsMuch).toBeLessThan(100);
  });
});
