import { it } from "vitest";
import type { Rig } from "../../lab/support/rig.ts";
import { slownessOf } from "../support/slowness.ts";

/** Names and assertions are the callers', where the linter does not look for them. */
const register: typeof it = it;

/** What a test does around a death. */
export interface Moments {
  /** Brings the test to its moment, when all others have got so far. One after another. */
  readonly before?: () => unknown;
  /** Is the last before the kill. Waits for nothing. */
  readonly with?: () => void;
  /** While the bot is dead. */
  readonly meanwhile?: () => unknown;
}

/** A test waits by it for all other tests of its group. */
export interface Together {
  /**
   * Resolves when the bot has died once for all tests that still run, and is back. Each of them has to get this far or
   * to end.
   *
   * @returns by how much a limit in real time must be longer on this machine
   */
  readonly die: (moments?: Moments) => Promise<number>;
  /** Resolves when all tests that still run have got this far or die. Until then nobody writes to the bot. */
  readonly meet: () => Promise<void>;
}

interface Arrival {
  /** Undefined if the test only meets the others. */
  readonly death: Moments | undefined;
  readonly reached: PromiseWithResolvers<number>;
}

/**
 * A group of tests of a bot that dies, each about chats of its own. They go on beside each other, so that one death and
 * one start, which take longer than all else, are enough for all.
 */
export class SharedDeath {
  readonly #rig: () => Rig;
  readonly #environment: Record<string, string>;
  readonly #bodies: ((together: Together) => Promise<void>)[] = [];
  #runs: readonly Promise<void>[] | undefined;
  #running = 0;
  #arrived: Arrival[] = [];

  /** @param environment variables that the bot has from then on */
  constructor(rig: () => Rig, environment: Record<string, string> = {}) {
    this.#rig = rig;
    this.#environment = environment;
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
      die: (moments = {}) => this.#arrive(moments),
      meet: async () => void (await this.#arrive(undefined)),
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

  #arrive(death: Moments | undefined): Promise<number> {
    const reached = Promise.withResolvers<number>();
    this.#arrived.push({ death, reached });
    void this.#goOn();
    return reached.promise;
  }

  /** Goes on when everybody is there. */
  async #goOn(): Promise<void> {
    if (this.#arrived.length === 0 || this.#arrived.length < this.#running) return;
    const arrived = this.#arrived;
    this.#arrived = [];
    try {
      const deaths = arrived.flatMap(({ death }) => death ?? []);
      const slowness = deaths.length === 0 ? 1 : await this.#die(deaths);
      for (const { reached } of arrived) reached.resolve(slowness);
    } catch (error) {
      for (const { reached } of arrived) reached.reject(error);
    }
  }

  async #die(deaths: readonly Moments[]): Promise<number> {
    const { bot, simulator } = this.#rig();
    for (const { before } of deaths) await before?.();
    for (const death of deaths) death.with?.();
    await bot.kill("SIGKILL");
    simulator.clearFaults();
    for (const { meanwhile } of deaths) await meanwhile?.();
    return slownessOf(() => bot.restart(this.#environment));
  }
}
