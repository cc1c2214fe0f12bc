import type { Penalty } from "./gate-store.ts";

/** Each strike of a chat spaces its calls wider by this factor, and is forgiven after a time without another one. */
const WIDENING = 1.5;
const FORGIVEN_AFTER_MS = 2 * 60 * 1000;
const MOST_STRIKES = 5;

/** The penalty after one more refusal. Calls that crossed the same penalty are one strike. */
export function nextPenalty(known: Penalty | undefined, retryAfterMs: number, now: number): Penalty {
  const until = Math.max(known?.until ?? 0, now + retryAfterMs);
  const isSame = known !== undefined && now < known.until;
  const strikes = isSame ? known.strikes : Math.min(MOST_STRIKES, strikesLeft(known, now) + 1);
  return { until, strikes, widenedUntil: until + strikes * FORGIVEN_AFTER_MS };
}

/** How much wider than usual the chat's calls are spaced. */
export function spacingOf(penalty: Penalty | undefined, now: number): number {
  return WIDENING ** strikesLeft(penalty, now);
}

/** How many of a chat's strikes are not forgiven yet. */
function strikesLeft(penalty: Penalty | undefined, now: number): number {
  if (penalty === undefined) return 0;
  const left = Math.ceil((penalty.widenedUntil - now) / FORGIVEN_AFTER_MS);
  return Math.max(0, Math.min(penalty.strikes, left));
}
