import type { Clock } from "../../src/core/base/deps.ts";
import type { WakeNeed } from "./lane.ts";

/** While something is under way, the wake-up is at most this far ahead, so that a new process looks at it soon. */
const SOON_MS = 5_000;

/** Work that may have to go on after the process has ended. */
export interface WakeSource {
  wakeNeeds(): readonly WakeNeed[];
}

/**
 * Keeps one durable wake-up for all unfinished work. It moves the wake-up as rarely as possible, because each move is a
 * durable write. `arm` is called with each change.
 */
export class DurableWake {
  readonly #arm: (at: number | undefined) => void;
  readonly #clock: Clock;
  readonly #sources: WakeSource[] = [];
  #at: number | undefined;

  constructor(arm: (at: number | undefined) => void, clock: Clock) {
    this.#arm = arm;
    this.#clock = clock;
  }

  get at(): number | undefined {
    return this.#at;
  }

  watch(source: WakeSource): void {
    this.#sources.push(source);
  }

  /** A source calls this whenever its needs may have changed. */
  update(): void {
    const needs = this.#sources.flatMap((source) => source.wakeNeeds());
    const at = this.#earliest(needs, this.#clock.now());
    if (at === this.#at) return;
    this.#at = at;
    this.#arm(at);
  }

  #earliest(needs: readonly WakeNeed[], now: number): number | undefined {
    let earliest: number | undefined;
    for (const need of needs) {
      const at = need.kind === "at" ? need.at : this.#soon(now);
      earliest = earliest === undefined ? at : Math.min(earliest, at);
    }
    return earliest;
  }

  /** Returns the armed wake-up if it is soon enough, otherwise a new one. */
  #soon(now: number): number {
    const armed = this.#at;
    return armed !== undefined && armed > now && armed <= now + SOON_MS ? armed : now + SOON_MS;
  }
}
