import type { Rate } from "../src/core/surface.ts";

/** A token bucket on somebody else's clock. Tokens may be fractions; it never holds more than `burst`. */
export class TokenBucket {
  #tokens: number;
  #at: number;

  constructor(tokens: number, now: number) {
    this.#tokens = tokens;
    this.#at = now;
  }

  /** Tokens at `now`. `spacing` stretches the time between two tokens. */
  level(now: number, rate: Rate, spacing: number): number {
    const gained = Math.max(0, now - this.#at) / (rate.everyMs * spacing);
    return Math.min(rate.burst, this.#tokens + gained);
  }

  take(now: number, rate: Rate, spacing: number): void {
    this.#tokens = this.level(now, rate, spacing) - 1;
    this.#at = now;
  }

  /** Epoch milliseconds at which the level reaches `needed`, if nothing is taken until then. */
  readyAt(now: number, needed: number, rate: Rate, spacing: number): number {
    const missing = needed - this.level(now, rate, spacing);
    return missing <= 0 ? now : Math.ceil(Math.max(now, this.#at) + missing * rate.everyMs * spacing);
  }

  /** Holds exactly `tokens` at `at`, which may lie ahead. */
  reset(tokens: number, at: number): void {
    this.#tokens = tokens;
    this.#at = at;
  }
}
