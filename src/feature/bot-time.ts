import { sayEnglish } from "../core/text/bot-texts.ts";
import { timeInWords } from "../core/text/time-in-words.ts";

/** A bot with a time zone, or without one. */
export interface ZonedBot {
  getDefaultTimezone(): string | undefined;
}

/** Returns the bot's zone. Undefined if it names none. */
export function zoneOf(agent: ZonedBot): string | undefined {
  try {
    return agent.getDefaultTimezone();
  } catch {
    // A card must be drawn all the same. Schedules report the mistake.
    return undefined;
  }
}

/**
 * Writes a moment for the people of a chat: in the bot's zone, `Sun 2026-11-29 13:00 (Europe/Berlin)`, as its reminders
 * have it. If the bot names none, `2026-11-29 12:00 UTC`.
 */
export function botTime(agent: ZonedBot, epochMs: number, say = sayEnglish): string {
  try {
    const zone = zoneOf(agent);
    if (zone !== undefined) return timeInWords(epochMs, zone, say);
  } catch {
    // There is no such zone.
  }
  return `${new Date(epochMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
