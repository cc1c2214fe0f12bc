import { DAY_MS } from "../../core/civil-time.ts";
import { nextOccurrence } from "./next-occurrence.ts";
import type { Rule } from "./rule.ts";

const HOUR_MS = DAY_MS / 24;
const WINDOWS_MS = [HOUR_MS, DAY_MS, 7 * DAY_MS, 32 * DAY_MS, 367 * DAY_MS];

/**
 * Returns the latest occurrence that is not after `now`. It is looked for backwards, so that an absence of a year costs
 * little more than one of an hour.
 *
 * @param first an occurrence that is not after `now`
 */
export function latestMissed(rule: Rule, first: number, now: number, anchor: number): number {
  if (rule.kind === "interval") return first + Math.floor((now - first) / rule.everyMs) * rule.everyMs;
  for (const windowMs of WINDOWS_MS) {
    const found = latestIn(rule, Math.max(first, now - windowMs), now, anchor);
    if (found !== undefined) return found;
    if (now - windowMs <= first) return first;
  }
  return latestIn(rule, first, now, anchor) ?? first;
}

function latestIn(rule: Rule, from: number, now: number, anchor: number): number | undefined {
  let latest: number | undefined;
  for (let at = nextOccurrence(rule, from, anchor); at !== undefined && at <= now;) {
    latest = at;
    at = nextOccurrence(rule, at, anchor);
  }
  return latest;
}
