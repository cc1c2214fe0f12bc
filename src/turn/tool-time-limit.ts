import type { Clock } from "../core/deps.ts";

/** A signal that aborts with the turn, or when a tool has had its time. */
export interface LimitedSignal {
  readonly signal: AbortSignal | undefined;
  /** Whether the time is over. */
  readonly isOver: () => boolean;
  /** Frees the timer. */
  readonly end: () => void;
}

/** @param limitMs longest time of the tool, in milliseconds; undefined for no limit */
export function limitedSignal(
  clock: Clock,
  limitMs: number | undefined,
  signal: AbortSignal | undefined,
): LimitedSignal {
  if (limitMs === undefined) return { signal, isOver: () => false, end: () => {} };
  const limit = new AbortController();
  const timer = clock.setTimeout(() => limit.abort(), limitMs);
  return {
    signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
    isOver: () => limit.signal.aborted,
    end: () => clock.clearTimeout(timer),
  };
}
