import type { Penalty } from "./gate-store.ts";

/**
 * Each strike multiplies the time between a chat's calls by this factor. One strike is forgiven after
 * `FORGIVEN_AFTER_MS` without another.
 */
const WIDENING = 1.5;
const FORGIVEN_AFTER_MS = 2 * 60 * 1000;
const MOST_STRIKES = 5;

/** Returns the penalty after one more refusal. Refusals during the same penalty count as one strike. */
export function nextPenalty(known: Penalty | undefined, retryAfterMs: number, now: number): Penalty {
  const until = Math.max(known?.until ?? 0, now + retryAfterMs);
  const isSame = known !== undefined && now < known.until;
  const strikes = isSame ? known.strikes : Math.min(MOST_STRIKES, strikesLeft(known, now) + 1);
  return { until, strikes, widenedUntil: until + strikes * FORGIVEN_AFTER_MS };
}

/** Returns the factor by which the time between the chat's calls is longer than usual. */
export function spacingOf(penalty: Penalty | undefined, now: number): number {
  return WIDENING ** strikesLeft(penalty, now);
}

/** Returns the number of strikes that are not forgiven yet. */
function strikesLeft(penalty: Penalty | undefined, now: number): number {
  if (penalty === undefined) return 0;
  const left = Math.ceil((penalty.widenedUntil - now) / FORGIVEN_AFTER_MS);
  return Math.max(0, Math.min(penalty.strikes, left));
}
