import { describe, expect, it } from "vitest";
import { checkTasks } from "../../../src/schedules/rules/check-tasks.ts";
import { defineScheduledTasks } from "../../../src/schedules/rules/scheduled-task.ts";
import type { ThinkScheduledTasks } from "../../../src/schedules/rules/scheduled-task.ts";

const daily = { schedule: "every day at 09:00 in Europe/London", prompt: "Write the digest." } as const;

describe("the check of scheduled tasks", () => {
  it("fills in the defaults", () => {
    expect(checkTasks({ digest: daily }, undefined)).toMatchObject([
      {
        id: "digest",
        scope: "root",
        zone: "Europe/London",
        maxAttempts: 1,
        jitterMs: 0,
        ifLate: { runWithinMs: 0, otherwise: "run" },
        work: { kind: "prompt", fanOut: "once" },
      },
    ]);
    const [task] = checkTasks({ job: { schedule: "every 5 minutes", handler: () => undefined } }, undefined);
    expect(task?.ifLate).toEqual({ runWithinMs: 0, otherwise: "run" });
  });

  it("prefers the zone of the schedule, then that of the task, then that of the bot", () => {
    const zoneOf = (task: ThinkScheduledTasks[string]): string | undefined =>
      checkTasks({ task }, "Asia/Tokyo")[0]?.zone;
    expect(zoneOf(daily)).toBe("Europe/London");
    expect(zoneOf({ ...daily, schedule: "every day at 09:00", timezone: "Asia/Kolkata" })).toBe(
      "Asia/Kolkata",
    );
    expect(zoneOf({ ...daily, schedule: "every day at 09:00" })).toBe("Asia/Tokyo");
  });

  it("takes the zone of a task for its quiet hours, and one that is said twice", () => {
    const quiet = { from: "22:00", to: "07:00" };
    const task = { ...daily, schedule: "every 2 hours", timezone: "Asia/Tokyo", quietHours: quiet } as const;
    expect(() => checkTasks({ task }, undefined)).not.toThrow();
    expect(() => checkTasks({ task: { ...daily, timezone: "Europe/London" } }, undefined)).not.toThrow();
  });

  it("reads the end of a task in the zone of its schedule", () => {
    const untilOf = (until: string): number | undefined =>
      checkTasks({ task: { ...daily, until } }, undefined)[0]?.until;
    expect(untilOf("2026-07-01T00:00")).toBe(Date.parse("2026-06-30T23:00Z"));
    expect(untilOf("2026-07-01T00:00+00:00")).toBe(Date.parse("2026-07-01T00:00Z"));
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      "neither prompt nor handler",
      { prompt: undefined },
      /exactly one of "prompt" and "handler", and has neither/,
    ],
    ["both prompt and handler", { handler: () => undefined }, /and has both/],
    ["an empty prompt", { prompt: "  " }, /prompt must be a text of 1 to 20000 characters/],
    ["a misspelt option", { promt: "x" }, /promt does not exist\. Did you mean "prompt"\?/],
    ["an unknown option", { colour: "x" }, /colour does not exist\. Use any of: schedule, /],
    [
      "an unknown option inside of one",
      { retry: { maxAttempts: 2, max: 1 } },
      /retry\.max does not exist\. Use any of: maxAttempts/,
    ],
    ["one of many", { schedule: "every 1 minutes" }, /Write "every 1 minute"/],
    ["many of one", { schedule: "every 2 hour" }, /Write "every 2 hours"/],
    [
      "a day twice",
      { schedule: "every week on monday, mon at 09:00 in Europe/London" },
      /names a day twice: "mon"\. Name it once/,
    ],
    [
      "a day of the month twice",
      { schedule: "every month on 1,15,1 at 09:00 in Europe/London" },
      /names a day twice: "1"/,
    ],
    [
      "a zone for an interval",
      { schedule: "every 5 minutes", timezone: "Europe/London" },
      /the same everywhere.*Remove "timezone"/,
    ],
    [
      "two zones",
      { timezone: "Asia/Tokyo" },
      /names the zone "Europe\/London", and the task's timezone is "Asia\/Tokyo"\. Remove one/,
    ],
    [
      "targets of a handler",
      { prompt: undefined, handler: () => undefined, deliverTo: "ada" },
      /remove "deliverTo"/,
    ],
    ["each without targets", { fanOut: "each" }, /add "deliverTo"/],
    ["a wrong schedule", { schedule: "every day at 9:00" }, /"9:00" is not a time of day/],
    ["no zone", { schedule: "every day at 09:00" }, /has no time zone/],
    ["a wrong zone", { timezone: "Nowhere", schedule: "every day at 09:00" }, /"Nowhere" is not a time zone/],
    [
      "no attempt",
      { retry: { maxAttempts: 0 } },
      /retry\.maxAttempts must be a whole number from 1 to 20\. It is 0/,
    ],
    [
      "no quiet hours",
      { quietHours: { from: "22:00", to: "22:00" } },
      /"quietHours" needs two different times/,
    ],
    ["misspelt subscribers", { deliverTo: "subscriber" }, /Did you mean "subscribers"\?/],
    ["managers of nothing", { managers: ["4711"] }, /"managers" .* add "owner"/],
    ["no schedule", { schedule: undefined }, /"schedule" is missing/],
    ["a fact that is no plain one", { metadata: { made: () => 1 } }, /metadata must be an object of texts/],
    [
      "half a rule for lateness",
      { ifLate: { runWithinMs: 5 } },
      /ifLate must be \{ runWithinMs, otherwise \}/,
    ],
    ["a wrong end", { until: "soon" }, /"until" must be an ISO time/],
  ])("names the task and the fix: %s", (_name, change, expected) => {
    const tasks = { digest: { ...daily, ...change } } as unknown as ThinkScheduledTasks;
    expect(() => checkTasks(tasks, undefined)).toThrow(expected);
    expect(() => checkTasks(tasks, undefined)).toThrow(/The scheduled task "digest" cannot run\./);
  });

  it("refuses an id that is no name", () => {
    expect(() => checkTasks({ "a b": daily }, undefined)).toThrow(/1 to 64 letters/);
  });

  it("never repeats a prompt in an error", () => {
    const tasks = { digest: { ...daily, prompt: "secret".repeat(10_000) } };
    expect(() => checkTasks(tasks, undefined)).toThrow(expect.not.stringContaining("secret") as string);
  });
});

describe("the literal types of schedules", () => {
  it("are checked by the compiler", () => {
    const tasks = defineScheduledTasks({
      a: { schedule: "every 15 minutes", prompt: "x" },
      b: { schedule: "every weekday at 09:00 in Europe/London", handler: () => undefined },
      c: { schedule: "every week on monday,wednesday at 09:00", prompt: "x" },
      d: { schedule: "every month on the last friday at 17:30", prompt: "x" },
      e: { schedule: "every month on 1,15 at 07:00", prompt: "x" },
      f: { schedule: "cron 0 9 * * 1-5", prompt: "x" },
      g: { schedule: "at 2026-12-24T18:00", prompt: "x" },
      // @ts-expect-error -- no such hour
      h: { schedule: "every day at 25:00", prompt: "x" },
      // @ts-expect-error -- no such unit
      i: { schedule: "every 5 seconds", prompt: "x" },
      // @ts-expect-error -- no such day
      j: { schedule: "every week on funday at 09:00", prompt: "x" },
    });
    expect(Object.keys(tasks)).toHaveLength(10);
  });
});
