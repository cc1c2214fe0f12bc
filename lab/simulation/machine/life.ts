import type { ProcessClock } from "./scheduler.ts";

/** The process has died; nothing that it still does may have an effect. */
export class Crash extends Error {}

/** One object's time in memory, from its start to its death. */
export class Life {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly #onBoundary: (life: Life, what: string) => void;
  #isDead = false;
  #isStarting = true;
  #diedAt = Infinity;

  /** @param onBoundary called at each moment at which a death makes a difference; may kill this life */
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

  /** From here on a death makes a difference: making tables that are there does not. */
  started(): void {
    this.#isStarting = false;
  }

  /** @throws {Crash} when the process is dead, or dies here */
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
  }

  /** Runs work that may die on the way, which then has no other consequence. */
  async guard(body: () => void | Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      if (!this.#isDead) throw error;
    }
  }
}
