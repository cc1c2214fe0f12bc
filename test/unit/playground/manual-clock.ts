import type { Clock, Timer } from "../../../playground/telegram/simulator.ts";

export interface ManualClock extends Clock {
  /** Moves time on and runs what falls due, in order. */
  advance(byMs: number): void;
}

/** Time that stands still until it is moved. */
export function createManualClock(startMs = 1_800_000_000_000): ManualClock {
  let now = startMs;
  const timers = new Map<Timer, { readonly at: number; readonly run: () => void }>();
  return {
    now: () => now,
    setTimeout: (run, delayMs) => {
      const timer: Timer = { id: {} };
      timers.set(timer, { at: now + delayMs, run });
      return timer;
    },
    clearTimeout: (timer) => void timers.delete(timer),
    advance: (byMs) => {
      const end = now + byMs;
      for (;;) {
        const due = [...timers]
          .filter(([, entry]) => entry.at <= end)
          .sort(([, left], [, right]) => left.at - right.at)[0];
        if (due === undefined) break;
        timers.delete(due[0]);
        now = Math.max(now, due[1].at);
        due[1].run();
      }
      now = end;
    },
  };
}
