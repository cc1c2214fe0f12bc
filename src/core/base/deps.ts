/**
 * Everything that a part must not take from its surroundings: time, timers, randomness, ids and the network. It is
 * chosen once, where the worker is composed, so that tests can move time by hand.
 */
export interface Deps {
  readonly clock: Clock;
  /** Returns a new, unguessable id: 21 or more characters, URL safe. */
  readonly newId: () => string;
  /** Returns a number in [0, 1). For jitter only, never for secrets. */
  readonly random: () => number;
  readonly fetch: typeof fetch;
}

/** Handle of a timer that a `Clock` started. */
export type Timer = unknown;

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /**
   * Runs `callback` once, `delayMs` milliseconds from now. A timer is lost with the process, so nothing durable may
   * depend on it.
   */
  setTimeout(callback: () => void, delayMs: number): Timer;
  clearTimeout(timer: Timer): void;
}

/** Clock, ids and network of the runtime. */
export const systemDeps: Deps = {
  clock: {
    now: () => Date.now(),
    setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
    clearTimeout: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  },
  newId: () => crypto.randomUUID(),
  random: () => Math.random(),
  fetch: (input, init) => fetch(input, init),
};

/** Resolves after `delayMs` on the given clock; rejects with the signal's reason when it aborts first. */
export function wait(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, delayMs);
    const onAbort = () => {
      clock.clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
