import type { Clock } from "../base/deps.ts";

/** Makes a call with a signal that aborts after `limitMs`. The call decides what to do then. */
export async function withTimeLimit<T>(
  clock: Clock,
  limitMs: number,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = clock.setTimeout(
    () => limit.abort(new DOMException("The time limit is over.", "TimeoutError")),
    limitMs,
  );
  try {
    return await call(limit.signal);
  } finally {
    clock.clearTimeout(timer);
  }
}
