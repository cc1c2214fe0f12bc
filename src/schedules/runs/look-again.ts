import type { Leg, Occurrence } from "../rules/occurrence.ts";
import type { OccurrenceHost } from "./occurrence-host.ts";
import type { StepResult } from "./step-result.ts";

/** Turns that tell of their end by themselves are looked at after this, in case the message was lost. */
const HEARD_MS = 60_000;
/** Turns that were stored before 0.2.0, and cards, are looked at so soon. */
const LOOK_AGAIN_MS = 250;
const LOOK_AGAIN_MOST_MS = 60_000;
/** People may take days to decide. */
const HEARD_MOST_MS = 15 * 60_000;

/**
 * Looks again at turns that have not ended, ever more rarely.
 *
 * @param isHeard whether they tell of their end by themselves
 */
export function lookAgain(
  { clock }: Pick<OccurrenceHost, "clock">,
  occurrence: Occurrence,
  open: readonly Leg[],
  isHeard = !open.some(({ address, recites }) => recites && address !== undefined),
): StepResult {
  const now = clock.now();
  const isQuiet = ({ notBefore, state }: Leg): boolean => state === "new" && notBefore !== undefined;
  const quietUntil = Math.min(...open.filter(isQuiet).map(({ notBefore = now }) => notBefore));
  const busy = open.filter((leg) => !isQuiet(leg));
  if (busy.length === 0) {
    const nextAt = Math.max(now + LOOK_AGAIN_MS, quietUntil);
    return { kind: "continues", occurrence: { ...occurrence, state: "running", nextAt } };
  }
  const isWaiting = busy.every(({ state }) => state === "waiting");
  const begun = occurrence.startedAt ?? now;
  // A decision of somebody is followed by quick work.
  const age = now - Math.max(...busy.map(({ since }) => since ?? begun));
  const [leastMs, mostMs] = isHeard ? [HEARD_MS, HEARD_MOST_MS] : [LOOK_AGAIN_MS, LOOK_AGAIN_MOST_MS];
  const restMs = Math.min(Math.max(Math.ceil(age / 2), leastMs), mostMs);
  const nextAt = Math.max(now + LOOK_AGAIN_MS, Math.min(now + restMs, quietUntil));
  const state = isWaiting ? "waiting" : "running";
  return { kind: "continues", occurrence: { ...occurrence, state, nextAt } };
}
