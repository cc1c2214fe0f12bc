import { expect, it } from "vitest";
import { botTime } from "../../../src/feature/bot-time.ts";

const NOON = Date.parse("2026-11-29T12:00:00Z");

it("writes times in the zone of the bot, and of that day", () => {
  const agent = { getDefaultTimezone: () => "Europe/Berlin" };
  expect(botTime(agent, NOON)).toBe("Sun 2026-11-29 13:00 (Europe/Berlin)");
  expect(botTime(agent, Date.parse("2026-07-01T23:30:00Z"))).toBe("Thu 2026-07-02 01:30 (Europe/Berlin)");
});

it.each([
  ["names no zone", () => undefined],
  ["names a zone that does not exist", () => "Europe/Brelin"],
  [
    "throws",
    () => {
      throw new Error("no settings yet");
    },
  ],
])("writes times in UTC if the bot %s", (_what, getDefaultTimezone) => {
  expect(botTime({ getDefaultTimezone }, NOON)).toBe("2026-11-29 12:00 UTC");
});
