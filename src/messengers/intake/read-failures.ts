import { failureCode, SwitchboardError } from "../../core/errors.ts";
import type { Clock } from "../../core/deps.ts";

/** How long to rest between looks at an event: each time twice as long as before, up to a longest. */
interface Schedule {
  readonly maxAttempts: number;
  readonly longestRestMs: number;
}

const FIRST_REST_MS = 2500;
/** About 40 minutes in all, so that an outage of the platform or of a service that the bot's code asks costs no message. */
const READING: Schedule = { maxAttempts: 12, longestRestMs: 10 * 60_000 };
/** As long in all. Later messages of the chat may have gone by already, so this one must not come long after them. */
const ROUTING: Schedule = { maxAttempts: 82, longestRestMs: 30_000 };

/** An event whose conversation cannot be told now. */
export class UnresolvedError extends SwitchboardError {
  constructor(code: string) {
    super(code, "The conversation of an event could not be determined. The event waits and is tried again.");
    this.name = "UnresolvedError";
  }
}

export interface ReadFailure {
  /** What went wrong: a code, or the class of an error; never its text (I10). */
  readonly code: string;
  readonly attempts: number;
  /** When to look again; `undefined` when it is given up. */
  readonly retryAt: number | undefined;
}

/** Which events could not be read, how often, and when to look at them again. In memory: a restart tries at once. */
export class ReadFailures {
  readonly #clock: Clock;
  readonly #failures = new Map<number, ReadFailure>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Until when an event is left alone. */
  restsUntil(seq: number): number | undefined {
    const retryAt = this.#failures.get(seq)?.retryAt;
    return retryAt !== undefined && retryAt > this.#clock.now() ? retryAt : undefined;
  }

  add(seq: number, error: unknown): ReadFailure {
    const { longestRestMs, maxAttempts } = error instanceof UnresolvedError ? ROUTING : READING;
    const attempts = (this.#failures.get(seq)?.attempts ?? 0) + 1;
    const code = failureCode(error);
    const restMs = Math.min(FIRST_REST_MS * 2 ** (attempts - 1), longestRestMs);
    const retryAt = attempts < maxAttempts ? this.#clock.now() + restMs : undefined;
    const failure = { code, attempts, retryAt };
    this.#failures.set(seq, failure);
    return failure;
  }

  forget(seq: number): void {
    this.#failures.delete(seq);
  }
}
