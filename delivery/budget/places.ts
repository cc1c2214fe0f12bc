/** Lower ranks are served first. */
export type Rank = 0 | 1;

interface Place {
  readonly rank: Rank;
  readonly order: number;
  expiresAt: number;
}

/** A caller that comes back later than this stands behind all others. */
const REMEMBER_MS = 60_000;

/**
 * The queue of callers that were told to wait. Nobody waits behind a caller that does not come back in time: its place
 * expires. If it comes back later, it still stands where it stood. Otherwise no call at all would be made on a machine so
 * busy that everybody is late, because each caller would find all the others in front of it.
 */
export class Places {
  readonly #places = new Map<string, Place>();
  #order = 0;

  /** Returns the number of callers that are served before this one. */
  ahead(caller: string, rank: Rank, now: number): number {
    const own = this.#places.get(caller);
    let ahead = 0;
    for (const [other, place] of this.#places) {
      if (place.expiresAt + REMEMBER_MS < now) this.#places.delete(other);
      else if (place.expiresAt < now) continue;
      else if (other !== caller && isBefore(place, own, rank)) ahead += 1;
    }
    return ahead;
  }

  /** Keeps the caller's place, or adds one behind the others of its rank. */
  keep(caller: string, rank: Rank, expiresAt: number): void {
    const place = this.#places.get(caller);
    if (place?.rank === rank) {
      place.expiresAt = expiresAt;
      return;
    }
    this.#order += 1;
    this.#places.set(caller, { rank, order: this.#order, expiresAt });
  }

  leave(caller: string): void {
    this.#places.delete(caller);
  }

  /** Keeps all places until this time, because nobody is served before it. */
  holdUntil(until: number): void {
    for (const place of this.#places.values()) place.expiresAt = Math.max(place.expiresAt, until);
  }
}

function isBefore(place: Place, own: Place | undefined, rank: Rank): boolean {
  if (place.rank !== rank) return place.rank < rank;
  return own === undefined || own.rank !== rank || place.order < own.order;
}
