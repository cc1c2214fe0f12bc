import { sayEnglish } from "./bot-texts.ts";
import type { Say } from "./bot-texts.ts";
import { civilTimeAt } from "../time/time-zone.ts";

/** `Mon 2026-11-23 09:00 (Europe/London)`; without a zone in UTC. */
export function timeInWords(moment: number, zone = "UTC", say: Say = sayEnglish): string {
  const civil = new Date(civilTimeAt(moment, zone));
  const text = civil.toISOString();
  const weekdays = say("weekdays").split(" ");
  return `${weekdays[civil.getUTCDay()] ?? ""} ${text.slice(0, 10)} ${text.slice(11, 16)} (${zone})`;
}

/** A shorter time than this is now, or about a minute. */
const LEAST_SECONDS_MS = 1500;
const LEAST_MINUTES_MS = 59_500;

/** `3 days`, `2 hours`, `5 minutes`, `30 seconds` */
export function durationInWords(ms: number, say: Say = sayEnglish): string {
  if (ms >= LEAST_SECONDS_MS && ms < LEAST_MINUTES_MS)
    return say("seconds", { count: Math.round(ms / 1000) });
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (minutes >= 48 * 60) return say("days", { count: Math.round(minutes / 1440) });
  if (minutes >= 100) return say("hours", { count: Math.round(minutes / 60) });
  return minutes === 1 ? say("oneMinute") : say("minutes", { count: minutes });
}
