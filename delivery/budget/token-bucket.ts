import type { Rate } from "../../src/core/surface.ts";

/** Calls that somebody else may make until `until` (epoch milliseconds). Unused ones lapse then. */
export interface Lease {
  readonly slots: number;
  readonly until: number;
}

/**
 * A token bucket on somebody else's clock. Tokens may be fractions. What it holds and what it has leased out are never
 * more than `burst` together, so that a lease that is used late makes no burst longer.
 *
 * It may save tokens that arrive while it is full, for calls that are rare and urgent. A saved token is an earned one:
 * over a long time the calls are no more than the rate.
 */
export class TokenBucket {
  #tokens: number;
  #at: number;
  readonly #mostSaved: number;
  #saved: number;
  /** Leases that have not lapsed, the first to lapse in front. */
  #leases: readonly Lease[] = [];

  /** Begins with `mostSaved` saved tokens. */
  constructor(tokens: number, now: number, mostSaved = 0) {
    this.#tokens = tokens;
    this.#at = now;
    this.#mostSaved = mostSaved;
    this.#saved = mostSaved;
  }

  /** Tokens at `now`. `spacing` stretches the time between two tokens. */
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

  /** Saved tokens at `now`. */
  saved(now: number, rate: Rate, spacing: number): number {
    this.level(now, rate, spacing);
    return this.#saved;
  }

  takeSaved(): void {
    this.#saved -= 1;
  }

  /** Takes tokens for calls that somebody else makes until the lease lapses. Leases lapse in the order of their start. */
  lease(now: number, lease: Lease, rate: Rate, spacing: number): void {
    this.#tokens = this.level(now, rate, spacing) - lease.slots;
    this.#leases = [...this.#leases, lease];
  }

  /**
   * Epoch milliseconds at which the level reaches `needed`, when only `ahead` tokens are taken until then: those of callers
   * that are served before.
   */
  readyAt(now: number, needed: number, rate: Rate, spacing: number, ahead = 0): number {
    const missing = needed + ahead - this.level(now, rate, spacing);
    if (missing <= 0) return now;
    const filledAt = Math.ceil(Math.max(now, this.#at) + missing * rate.everyMs * spacing);
    const room = needed <= this.#capacity(rate) ? 0 : (this.#leases.at(-1)?.until ?? 0);
    return Math.max(filledAt, room);
  }

  /** Holds exactly `tokens` at `at`, which may lie ahead; what was leased or saved is void. */
  reset(tokens: number, at: number): void {
    this.#tokens = tokens;
    this.#saved = 0;
    this.#at = at;
    this.#leases = [];
  }

  #capacity(rate: Rate): number {
    return this.#leases.reduce((room, { slots }) => room - slots, rate.burst);
  }

  #settle(at: number, rate: Rate, spacing: number): void {
    const gained = Math.max(0, at - this.#at) / (rate.everyMs * spacing);
    const tokens = this.#tokens + gained;
    this.#tokens = Math.min(this.#capacity(rate), tokens);
    this.#saved = Math.min(this.#mostSaved, this.#saved + tokens - this.#tokens);
    this.#at = Math.max(this.#at, at);
  }
}
