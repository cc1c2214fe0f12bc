import { it } from "vitest";

/** Names and assertions are the callers', where the linter does not look for them. */
const register: typeof it = it;

/** A test waits by it for all other tests of its group. */
export interface Together {
  /**
   * Resolves when the bot has died once for all tests that still run, and is back. Each of them has to get this far or
   * to end.
   *
   * @param atLast brings the test to its moment, when all others have reached theirs. One after another, and right before
   *   the death
   * @returns by how much a limit in real time must be longer on this machine
   */
  readonly die: (atLast?: () => unknown) => Promise<number>;
  /** Resolves when all tests that still run have got this far or die. Until then nobody writes to the bot. */
  readonly meet: () => Promise<void>;
}

interface Arrival {
  readonly dies: boolean;
  readonly atLast: () => unknown;
  readonly reached: PromiseWithResolvers<number>;
}

/**
 * A group of tests of a bot that dies, each about chats of its own. They go on beside each other, so that one death and
 * one start, which take longer than all else, are enough for all.
 */
export class SharedDeath {
  readonly #dieAndComeBack: () => Promise<number>;
  readonly #bodies: ((together: Together) => Promise<void>)[] = [];
  #runs: readonly Promise<void>[] | undefined;
  #running = 0;
  #arrived: Arrival[] = [];

  /** @param dieAndComeBack kills the bot and starts it again. Returns what `die` of a test returns */
  constructor(dieAndComeBack: () => Promise<number>) {
    this.#dieAndComeBack = dieAndComeBack;
  }

  /** Registers a test. The first one that runs begins all of them. */
  it(name: string, body: (together: Together) => Promise<void>): void {
    const index = this.#bodies.push(body) - 1;
    register(name, async () => {
      this.#runs ??= this.#beginAll();
      await this.#runs[index];
    });
  }

  #beginAll(): readonly Promise<void>[] {
    this.#running = this.#bodies.length;
    const together: Together = {
      die: (atLast = () => undefined) => this.#arrive(true, atLast),
      meet: async () => void (await this.#arrive(false, () => undefined)),
    };
    return this.#bodies.map((body) => {
      const run = body(together).finally(() => {
        this.#running -= 1;
        void this.#goOn();
      });
      // Its own test awaits it later.
      run.catch(() => undefined);
      return run;
    });
  }

  #arrive(dies: boolean, atLast: () => unknown): Promise<number> {
    const reached = Promise.withResolvers<number>();
    this.#arrived.push({ dies, atLast, reached });
    void this.#goOn();
    return reached.promise;
  }

  /** Goes on when everybody is there. */
  async #goOn(): Promise<void> {
    if (this.#arrived.length === 0 || this.#arrived.length < this.#running) return;
    const arrived = this.#arrived;
    this.#arrived = [];
    try {
      for (const { atLast } of arrived) await atLast();
      const slowness = arrived.some(({ dies }) => dies) ? await this.#dieAndComeBack() : 1;
      for (const { reached } of arrived) reached.resolve(slowness);
    } catch (error) {
      for (const { reached } of arrived) reached.reject(error);
    }
  }
}
