import { wait, type Clock } from "../../../src/core/base/deps.ts";

interface Entry {
  readonly at: number;
  readonly callback: () => void;
}

/** Time that moves only by `advance`, with every promise settled in between. */
export class FakeClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Set<Entry>();

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, delayMs: number): Entry {
    const entry = { at: this.#now + delayMs, callback };
    this.#timers.add(entry);
    return entry;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as Entry);
  }

  get pending(): number {
    return this.#timers.size;
  }

  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    for (;;) {
      await settle();
      const due = [...this.#timers].filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = end;
    await settle();
  }

  /** Moves time from timer to timer until `done` settles. */
  async runUntil<T>(done: Promise<T>): Promise<T> {
    let isDone = false;
    const watched = done.finally(() => {
      isDone = true;
    });
    watched.catch(() => undefined);
    for (;;) {
      await settle();
      if (isDone) return watched;
      const next = Math.min(...[...this.#timers].map((entry) => entry.at));
      if (!Number.isFinite(next)) return watched;
      await this.advance(Math.max(0, next - this.#now));
    }
  }
}

/** Lets everything that is ready run: streams take several turns of the event loop's queues. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Pauses of the demo model by a clock of a test. */
export function pausedBy(clock: Clock): {
  readonly pause: (delayMs: number, signal?: AbortSignal) => Promise<void>;
} {
  return { pause: (delayMs: number, signal?: AbortSignal) => wait(clock, delayMs, signal) };
}
