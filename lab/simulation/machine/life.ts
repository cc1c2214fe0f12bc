import type { ProcessClock } from "./scheduler.ts";

/** Thrown in a process that has died. Nothing that it still does may have an effect. */
export class Crash extends Error {}

/** One object's time in memory, from its start to its death. */
export class Life {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly #onBoundary: (life: Life, what: string) => void;
  readonly #callers = new Set<() => void>();
  #isDead = false;
  #isStarting = true;
  #diedAt = Infinity;

  /** @param onBoundary called at each moment at which a crash makes a difference; may kill this life */
  constructor(name: string, clock: ProcessClock, onBoundary: (life: Life, what: string) => void) {
    this.name = name;
    this.clock = clock;
    this.#onBoundary = onBoundary;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get diedAt(): number {
    return this.#diedAt;
  }

  /**
   * Marks the end of the start. Crashes count from here on; before, the process only creates tables that exist already.
   */
  started(): void {
    this.#isStarting = false;
  }

  /** @throws {Crash} if the process is dead, or dies here */
  boundary(what: string): void {
    if (!this.#isDead && !this.#isStarting) this.#onBoundary(this, what);
    if (this.#isDead) throw new Crash(what);
  }

  /** A durable change that is not a statement of SQL. */
  write<Value>(what: string, change: () => Value): Value {
    this.boundary(`before ${what}`);
    const value = change();
    this.boundary(`after ${what}`);
    return value;
  }

  kill(): void {
    if (!this.#isDead) this.#diedAt = this.clock.now();
    this.#isDead = true;
    this.clock.kill();
    for (const abandon of this.#callers) abandon();
    this.#callers.clear();
  }

  /** Returns the result of work that somebody waits for. Rejects if the process dies before. */
  untilDeath<Value>(work: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const abandon = (): void => reject(new Crash("call"));
      this.#callers.add(abandon);
      work.then(resolve, reject).finally(() => this.#callers.delete(abandon));
    });
  }

  /** Runs work in which the process may die. A crash has no other consequence. */
  async guard(body: () => void | Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      if (!this.#isDead) throw error;
    }
  }
}
