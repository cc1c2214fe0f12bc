import { expect } from "vitest";
import type { Rate } from "../../../src/core/chat/surface.ts";

/** By how much the calls of the busiest window are more than what that window has earned. */
export function longestBurst(times: readonly number[], everyMs: number): number {
  const calls = times.toSorted((left, right) => left - right);
  let most = 0;
  for (const [index, from] of calls.entries()) {
    for (let later = index; later < calls.length; later += 1) {
      const earned = ((calls[later] ?? from) - from) / everyMs;
      most = Math.max(most, later - index + 1 - earned);
    }
  }
  return most;
}

/** Never more calls in any window than a burst and what the window has earned. */
export function expectPaced(times: readonly number[], { burst, everyMs }: Rate): void {
  expect(longestBurst(times, everyMs), "calls of a window over what it has earned").toBeLessThanOrEqual(
    burst + 1e-9,
  );
}
