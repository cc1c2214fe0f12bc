import { failureCode, SwitchboardError } from "../../core/base/errors.ts";
import type { Clock } from "../../core/base/deps.ts";
import { restAfter } from "../../core/base/rest-after.ts";

/** The rests between tries to read an event. Each is twice as long as the one before, up to a limit. */
interface Schedule {
  readonly maxAttempts: number;
  readonly longestRestMs: number;
}

const FIRST_REST_MS = 2500;
/**
 * About 40 minutes in total, so that an outage of the platform, or of a service that the bot's code calls, loses no
 * message.
 */
const READING: Schedule = { maxAttempts: 12, longestRestMs: 10 * 60_000 };
/**
 * About 40 minutes in total too, but with short rests: later messages of the chat may already be answered, so this one
 * must not come long after them.
 */
const ROUTING: Schedule = { maxAttempts: 82, longestRestMs: 30_000 };

/** Thrown for an event whose conversation cannot be determined now. */
export class UnresolvedError extends SwitchboardError {
  constructor(code: string) {
    super(code, "The conversation of an event could not be determined. The event waits and is tried again.");
    this.name = "UnresolvedError";
  }
}

export interface ReadFailure {
  /** The reason: an error's code or class, never its text (I10). */
  readonly code: string;
  readonly attempts: number;
  /** Time of the next try, in epoch milliseconds. Undefined if the event is given up. */
  readonly retryAt: number | undefined;
}

/**
 * Tracks events that could not be read: how often, and when to try again. In memory only, so a restart tries at once.
 */
export class ReadFailures {
  readonly #clock: Clock;
  readonly #failures = new Map<number, ReadFailure>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns until when an event is left alone. */
  restsUntil(seq: number): number | undefined {
    const retryAt = this.#failures.get(seq)?.retryAt;
    return retryAt !== undefined && retryAt > this.#clock.now() ? retryAt : undefined;
  }

  add(seq: number, error: unknown): ReadFailure {
    const { longestRestMs, maxAttempts } = error instanceof UnresolvedError ? ROUTING : READING;
    const attempts = (this.#failures.get(seq)?.attempts ?? 0) + 1;
    const code = failureCode(error);
    const restMs = restAfter(attempts, FIRST_REST_MS, longestRestMs);
    const retryAt = attempts < maxAttempts ? this.#clock.now() + restMs : undefined;
    const failure = { code, attempts, retryAt };
    this.#failures.set(seq, failure);
    return failure;
  }

  forget(seq: number): void {
    this.#failures.delete(seq);
  }
}
