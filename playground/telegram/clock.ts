/** A pending timer of a {@link Clock}. */
export type Timer = { readonly id: unknown };

/** The simulator's only source of time, so that tests can move it by hand. Times are milliseconds since 1970. */
export interface Clock {
  now(): number;
  setTimeout(run: () => void, delayMs: number): Timer;
  clearTimeout(timer: Timer): void;
}

/** The machine's clock. Its timers never keep the process alive. */
export const realClock: Clock = {
  now: () => Date.now(),
  setTimeout: (run, delayMs) => {
    const id = setTimeout(run, delayMs);
    id.unref();
    return { id };
  },
  clearTimeout: (timer) => clearTimeout(timer.id as NodeJS.Timeout),
};
