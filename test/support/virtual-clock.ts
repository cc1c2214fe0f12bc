import { setImmediate as nextMacrotask } from "node:timers/promises";
import type { Clock, Timer } from "../../src/core/base/deps.ts";

/** A clock that only a test moves. Timers run in the order of their time, then of their start. */
export interface VirtualClock extends Clock {
  /** Lets everything that is under way come to rest, without moving time. */
  settle(): Promise<void>;
  /** Moves time, runs each timer at its own moment, and settles before and after each. */
  advance(milliseconds: number): Promise<void>;
  /** Advances from timer to timer until `isDone`, at most `limitMs`. Rejects when that is not enough. */
  advanceUntil(isDone: () => boolean, limitMs: number): Promise<void>;
  /** The same time for one process: when it is killed, its timers never run. */
  process(): ProcessClock;
  /** Epoch milliseconds of the next timer. */
  nextTimerAt(): number | undefined;
}

export interface ProcessClock extends Clock {
  kill(): void;
}

interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

export function createVirtualClock(startAt = Date.UTC(2026, 0, 1)): VirtualClock {
  return new ManualClock(startAt);
}

class ManualClock implements VirtualClock {
  #now: number;
  #order = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(startAt: number) {
    this.#now = startAt;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, delayMs: number): Timer {
    this.#order += 1;
    const waiting = { at: this.#now + Math.max(0, delayMs), order: this.#order, callback };
    this.#waiting.add(waiting);
    return waiting;
  }

  clearTimeout(timer: Timer): void {
    this.#waiting.delete(timer as Waiting);
  }

  // A macrotask of the runtime comes after every microtask, however long their chain is.
  async settle(): Promise<void> {
    await nextMacrotask();
  }

  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await this.settle();
    for (let next = this.#first(); next !== undefined && next.at <= end; next = this.#first()) {
      await this.#fire(next);
    }
    this.#now = end;
    await this.settle();
  }

  async advanceUntil(isDone: () => boolean, limitMs: number): Promise<void> {
    const end = this.#now + limitMs;
    await this.settle();
    while (!isDone()) {
      const next = this.#first();
      if (next === undefined || next.at > end) {
        throw new Error(`Not done within ${limitMs} ms of virtual time.`);
      }
      await this.#fire(next);
    }
  }

  process(): ProcessClock {
    const timers = new Set<Timer>();
    let isAlive = true;
    return {
      now: () => this.#now,
      setTimeout: (callback, delayMs) => {
        if (!isAlive) return undefined;
        const timer = this.setTimeout(() => {
          timers.delete(timer);
          callback();
        }, delayMs);
        timers.add(timer);
        return timer;
      },
      clearTimeout: (timer) => {
        timers.delete(timer);
        this.clearTimeout(timer);
      },
      kill: () => {
        isAlive = false;
        for (const timer of timers) this.clearTimeout(timer);
      },
    };
  }

  nextTimerAt(): number | undefined {
    return this.#first()?.at;
  }

  async #fire(waiting: Waiting): Promise<void> {
    this.#waiting.delete(waiting);
    this.#now = Math.max(this.#now, waiting.at);
    waiting.callback();
    await this.settle();
  }

  #first(): Waiting | undefined {
    let first: Waiting | undefined;
    for (const waiting of this.#waiting) {
      if (
        first === undefined ||
        waiting.at < first.at ||
        (waiting.at === first.at && waiting.order < first.order)
      )
        first = waiting;
    }
    return first;
  }
}
