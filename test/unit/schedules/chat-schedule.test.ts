import { describe, expect, it } from "vitest";
import { previewOf } from "../../../src/schedules/rules/chat-schedule.ts";
import { listCard, reminderCard, zoneCard } from "../../../src/schedules/chat/chat-cards.ts";
import { durationInWords, timeInWords } from "../../../src/core/text/time-in-words.ts";
import { sayIn } from "../../../src/core/text/bot-texts.ts";
import { checkContent } from "../../../src/core/message/check-content.ts";
import { parseWhen } from "../../../src/schedules/rules/parse-when.ts";

/** A Sunday, 23:30 in Berlin. */
const NOW = Date.parse("2026-11-22T22:30:00Z");
const BERLIN = "Europe/Berlin";

describe("a time that people say", () => {
  it.each<[string, string]>([
    ["in 30 seconds", "at 2026-11-22T22:30:30.000Z"],
    ["in 1 second", "at 2026-11-22T22:30:01.000Z"],
    ["in 20 minutes", "at 2026-11-22T22:50:00.000Z"],
    ["in 1 hour", "at 2026-11-22T23:30:00.000Z"],
    ["in 2 days", "at 2026-11-24T22:30:00.000Z"],
    ["today at 23:45", "at 2026-11-22T22:45:00.000Z"],
    ["tomorrow at 09:00", "at 2026-11-23T08:00:00.000Z"],
    ["Tomorrow  at 09:00", "at 2026-11-23T08:00:00.000Z"],
    ["on friday at 09:00", "at 2026-11-27T08:00:00.000Z"],
    ["sunday at 23:45", "at 2026-11-22T22:45:00.000Z"],
    ["sunday at 09:00", "at 2026-11-29T08:00:00.000Z"],
    ["every day at 09:00", "every day at 09:00"],
    ["on funday at 09:00", "on funday at 09:00"],
    ["at 2026-12-24T18:00", "at 2026-12-24T18:00"],
  ])("is read on the person's clock: %s", (text, expected) => {
    expect(parseWhen(text, NOW, BERLIN)).toBe(expected);
  });
});

describe("the preview of a schedule", () => {
  const QUARTER = 15 * 60_000;

  it("has the next three occurrences", () => {
    expect(previewOf("every day at 09:00", BERLIN, NOW, QUARTER)).toEqual({
      next: ["2026-11-23T08:00Z", "2026-11-24T08:00Z", "2026-11-25T08:00Z"].map((time) => Date.parse(time)),
    });
  });

  it.each([
    ["every 10 minutes", /at least 15 minutes/],
    ["cron 0,5 9 * * *", /at least 15 minutes/],
    ["cron * * 1 1 *", /at least 15 minutes/],
    ["at 2026-11-22T20:00", /That time is over/],
    ["cron 0 0 30 2 *", /never comes/],
    ["every day at 9", /is not a time of day/],
  ])("says what is wrong: %s", (schedule, expected) => {
    expect(previewOf(schedule, BERLIN, NOW, QUARTER)).toEqual({
      problem: expect.stringMatching(expected) as string,
    });
  });
});

describe("the texts about times", () => {
  const german = sayIn(
    {
      weekdays: "So Mo Di Mi Do Fr Sa",
      oneMinute: "1 Minute",
      seconds: "{count} Sekunden",
      minutes: "{count} Minuten",
      hours: "{count} Stunden",
      days: "{count} Tage",
      zoneUnknown: "Die Zeitzone {zone} gibt es nicht.",
      scheduleNever: "Das ist vorbei.",
      scheduleTooOften: "Mindestens {minutes} Minuten.",
    },
    undefined,
  );

  it.each([
    [0, "1 minute", "1 Minute"],
    [1 / 3, "20 seconds", "20 Sekunden"],
    [1, "1 minute", "1 Minute"],
    [99, "99 minutes", "99 Minuten"],
    [100, "2 hours", "2 Stunden"],
    [48 * 60, "2 days", "2 Tage"],
  ])("name %d minutes in the bot's language", (minutes, english, translated) => {
    expect(durationInWords(minutes * 60_000)).toBe(english);
    expect(durationInWords(minutes * 60_000, german)).toBe(translated);
  });

  it("name the day of the week", () => {
    expect(timeInWords(NOW, BERLIN)).toBe("Sun 2026-11-22 23:30 (Europe/Berlin)");
    expect(timeInWords(NOW, BERLIN, german)).toBe("So 2026-11-22 23:30 (Europe/Berlin)");
  });

  it.each([
    ["every 10 minutes", BERLIN, "Mindestens 15 Minuten."],
    ["at 2026-11-22T20:00", BERLIN, "Das ist vorbei."],
    ["every day at 09:00", "Mars", "Die Zeitzone Mars gibt es nicht."],
  ])("say what is wrong: %s", (schedule, zone, problem) => {
    expect(previewOf(schedule, zone, NOW, 15 * 60_000, german)).toEqual({ problem });
  });
});

describe("the cards of schedules", () => {
  const text = "x".repeat(2000);
  const schedule = {
    id: "#1",
    kind: "reminder",
    text,
    schedule: "every day at 09:00",
    timezone: BERLIN,
    address: { messengerId: "fake", threadId: "t", chatId: "c", isDirectMessage: true },
    madeBy: { userId: "u" },
    createdAt: NOW,
  } as const;

  it("can be sent with the longest texts", () => {
    const shown = { schedule, isPaused: false, next: [NOW], now: NOW };
    expect(() =>
      checkContent(zoneCard({ kind: "reminder", text, when: "x".repeat(200) }, "u")),
    ).not.toThrow();
    expect(() => checkContent(listCard(Array.from({ length: 60 }, () => shown)))).not.toThrow();
    expect(() =>
      checkContent(reminderCard("#1", text, "key", { isLate: "2 hours", isRecurring: true })),
    ).not.toThrow();
  });

  it("offer to skip the next one only if there is a next one", () => {
    const labels = (isRecurring: boolean): string[] =>
      (reminderCard("#1", "Tea", "key", { isLate: undefined, isRecurring }).buttons ?? [])
        .flat()
        .map(({ label }) => label);
    expect(labels(true)).toEqual(["Done", "10 min", "1 h", "Tomorrow", "Skip next"]);
    expect(labels(false)).toEqual(["Done", "10 min", "1 h", "Tomorrow"]);
  });
});
