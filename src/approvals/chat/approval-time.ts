import { sayEnglish } from "../../core/bot-texts.ts";
import type { Say } from "../../core/bot-texts.ts";
import { timeInWords } from "../../core/time-in-words.ts";

/** Writes a moment for the people of a chat. */
export type TimeWords = (epochMs: number, say?: Say) => string;

/**
 * Returns the times of cards in the bot's zone, `Sun 2026-11-29 13:00 (Europe/Berlin)`, as its reminders have them. If
 * the bot names none, `2026-11-29 12:00 UTC`.
 *
 * @param zoneOf `getDefaultTimezone` of the bot
 */
export function approvalTime(zoneOf: () => string | undefined): TimeWords {
  return (epochMs, say = sayEnglish) => {
    try {
      const zone = zoneOf();
      if (zone !== undefined) return timeInWords(epochMs, zone, say);
    } catch {
      // The bot's method throws, or returns no zone. A card must be drawn all the same; schedules report the mistake.
    }
    return `${new Date(epochMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  };
}
