import { civilTimeAt } from "./time-zone.ts";

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** `Mon 2026-11-23 09:00 (Europe/London)`; without a zone in UTC. */
export function timeInWords(moment: number, zone = "UTC"): string {
  const civil = new Date(civilTimeAt(moment, zone));
  const text = civil.toISOString();
  return `${WEEKDAYS[civil.getUTCDay()] ?? ""} ${text.slice(0, 10)} ${text.slice(11, 16)} (${zone})`;
}

/** `3 days`, `2 hours`, `5 minutes` */
export function durationInWords(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  const [count, unit] =
    minutes >= 48 * 60
      ? [Math.round(minutes / 1440), "day"]
      : minutes >= 100
        ? [Math.round(minutes / 60), "hour"]
        : [minutes, "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
