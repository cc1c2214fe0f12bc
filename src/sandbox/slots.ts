import { wait } from "../core/base/deps.ts";
import type { Clock, Timer } from "../core/base/deps.ts";

/** Time between two looks for a free place. */
const LOOK_EVERY_MS = 20;
/** Time between two signs of life of a holder, and after the last one until its place is free. */
const BEAT_MS = 300;
const STALE_MS = 1_000;

/**
 * A number of places for work of all objects in an isolate. Objects never wait for each other's promises, and a place whose
 * object has died is soon free.
 */
export class Slots {
  readonly #count: number;
  readonly #held = new Set<{ until: number }>();

  constructor(count: number) {
    this.#count = count;
  }

  /** Runs work while it holds a place. */
  async hold<Result>(clock: Clock, work: () => Promise<Result>): Promise<Result> {
    while (this.#isFull(clock)) await wait(clock, LOOK_EVERY_MS);
    const place = { until: 0 };
    let timer: Timer;
    const beat = (): void => {
      place.until = clock.now() + STALE_MS;
      timer = clock.setTimeout(beat, BEAT_MS);
    };
    beat();
    this.#held.add(place);
    try {
      return await work();
    } finally {
      clock.clearTimeout(timer);
      this.#held.delete(place);
    }
  }

  #isFull(clock: Clock): boolean {
    const now = clock.now();
    for (const place of this.#held) if (place.until < now) this.#held.delete(place);
    return this.#held.size >= this.#count;
  }
}
