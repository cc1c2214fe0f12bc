import { sayEnglish } from "../../core/bot-texts.ts";
import { timeInWords } from "../../core/time-in-words.ts";
import type { ApprovalMethods } from "../rules/bot-methods.ts";

/**
 * Writes a moment for the people of a chat: in the bot's zone, `Sun 2026-11-29 13:00 (Europe/Berlin)`, as its reminders
 * have it. If the bot names none, `2026-11-29 12:00 UTC`.
 */
export function approvalTime(
  agent: Pick<ApprovalMethods, "getDefaultTimezone">,
  epochMs: number,
  say = sayEnglish,
): string {
  try {
    const zone = agent.getDefaultTimezone();
    if (zone !== undefined) return timeInWords(epochMs, zone, say);
  } catch {
    // The bot's method throws, or returns no zone. A card must be drawn all the same; schedules report the mistake.
  }
  return `${new Date(epochMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
