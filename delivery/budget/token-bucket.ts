import type { Rate } from "../../src/core/chat/surface.ts";

/** Calls that another party may make until `until` (epoch milliseconds). Unused ones expire then. */
export interface Lease {
  readonly slots: number;
  readonly until: number;
}

/**
 * A token bucket whose time comes from the caller. Tokens may be fractions. Its own tokens, its leases and its held
 * tokens are never more than `burst` together, so a call that is made late does not lengthen a burst.
 *
 * It may save tokens that arrive while it is full, for calls that are rare and urgent. Saved tokens have been earned,
 * so over a long time the calls still keep to the rate.
 */
export class TokenBucket {
  #tokens: number;
  #at: number;
  readonly #mostSaved: number;
  #saved: number;
  /** Open leases, the first one to expire in front. */
  #leases: readonly Lease[] = [];
  /** Tokens of calls that were promised and not made yet. */
  #held = 0;

  /** Starts with `mostSaved` saved tokens. */
  constructor(tokens: number, now: number, mostSaved = 0) {
    this.#tokens = tokens;
    this.#at = now;
    this.#mostSaved = mostSaved;
    this.#saved = mostSaved;
  }

  /** Returns the tokens at `now`. `spacing` multiplies the time between two tokens. */
  level(now: number, rate: Rate, spacing: number): number {
    for (const lease of this.#leases) {
      if (lease.until > now) break;
      this.#settle(lease.until, rate, spacing);
      this.#leases = this.#leases.slice(1);
    }
    this.#settle(now, rate, spacing);
    return this.#tokens;
  }

  take(now: number, rate: Rate, spacing: number): void {
    this.#tokens = this.level(now, rate, spacing) - 1;
  }

  /** Returns the saved tokens at `now`. */
  saved(now: number, rate: Rate, spacing: number): number {
    this.level(now, rate, spacing);
    return this.#saved;
  }

  takeSaved(): void {
    this.#saved -= 1;
  }

  /**
   * Takes tokens for calls that another party makes until the lease expires. Leases must expire in the order in which
   * they start.
   */
  lease(now: number, lease: Lease, rate: Rate, spacing: number): void {
    this.#tokens = this.level(now, rate, spacing) - lease.slots;
    this.#leases = [...this.#leases, lease];
  }

  /** Takes a token for a call that is made later. It stays in the bucket's room until `useHeld` or `putBack`. */
  hold(now: number, rate: Rate, spacing: number): void {
    this.take(now, rate, spacing);
    this.#held += 1;
  }

  /** The call of a held token is made now. */
  useHeld(now: number, rate: Rate, spacing: number): void {
    this.level(now, rate, spacing);
    this.#held -= 1;
  }

  /** The call of a held token is not made. */
  putBack(now: number, rate: Rate, spacing: number): void {
    this.useHeld(now, rate, spacing);
    this.#tokens += 1;
  }

  /**
   * Returns the time (epoch milliseconds) at which the level reaches `needed`, if callers that are served earlier take
   * `ahead` tokens until then.
   */
  readyAt(now: number, needed: number, rate: Rate, spacing: number, ahead = 0): number {
    const missing = needed + ahead - this.level(now, rate, spacing);
    if (missing <= 0) return now;
    const filledAt = Math.ceil(Math.max(now, this.#at) + missing * rate.everyMs * spacing);
    const room = needed <= this.#capacity(rate) ? 0 : (this.#leases.at(-1)?.until ?? 0);
    return Math.max(filledAt, room);
  }

  /**
   * Sets the level to exactly `tokens` at the time `at`, which may be in the future. Leases and saved tokens become
   * void.
   */
  reset(tokens: number, at: number): void {
    this.#tokens = tokens;
    this.#saved = 0;
    this.#at = at;
    this.#leases = [];
  }

  #capacity(rate: Rate): number {
    return this.#leases.reduce((room, { slots }) => room - slots, rate.burst - this.#held);
  }

  #settle(at: number, rate: Rate, spacing: number): void {
    const gained = Math.max(0, at - this.#at) / (rate.everyMs * spacing);
    const tokens = this.#tokens + gained;
    this.#tokens = Math.min(this.#capacity(rate), tokens);
    this.#saved = Math.min(this.#mostSaved, this.#saved + tokens - this.#tokens);
    this.#at = Math.max(this.#at, at);
  }
}
