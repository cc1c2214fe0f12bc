import type { Clock } from "../../core/base/deps.ts";
import { failureCode } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import { shortWork } from "./short-work.ts";
import type { Wake } from "../declare/wake.ts";

/** Wake-ups that are closer together than this count as one. */
const SAME_WAKE_MS = 5;
/**
 * A wake-up is postponed by at least this much, and only shortly before it fires, because each move is a durable write.
 */
const PUT_OFF_FROM_MS = 1000;
const PUT_OFF_WITHIN_MS = 600;

export interface WakeUpOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Stores the time of the wake-up durably, or removes it. */
  readonly alarm: { set(at: number | undefined): Promise<void> };
}

/** The one durable wake-up of an object. It is set to the earliest time at which anybody needs the object. */
export class WakeUp implements Wake {
  readonly #options: WakeUpOptions;
  /** Time of the durable wake-up, as far as this object knows. */
  #armedAt: number | undefined;
  /** Earliest time at which anybody needs the object. The durable wake-up may be earlier. */
  #neededAt: number | undefined;
  #arming = Promise.resolve();

  constructor(options: WakeUpOptions) {
    this.#options = options;
  }

  /** Notes the time that is stored, without storing it. */
  known(at: number | undefined): void {
    this.#armedAt = at;
  }

  /** Sets the wake-up to `at`, unless an earlier one is set. */
  at(at: number): void {
    this.#needs(Math.min(at, this.#neededAt ?? at));
    if (this.#armedAt !== undefined && this.#armedAt <= at + SAME_WAKE_MS) return;
    this.#arm(at);
  }

  /** Moves the wake-up to a later time, or removes it. */
  putOff(at: number | undefined): void {
    this.#needs(at);
    if (this.#armedAt === undefined) return;
    if (at === undefined) {
      this.#arm(undefined);
      return;
    }
    const isSoon = this.#armedAt <= this.#options.clock.now() + PUT_OFF_WITHIN_MS;
    if (isSoon && this.#armedAt <= at - PUT_OFF_FROM_MS) this.#arm(at);
  }

  /** Resolves when the wake-up that was set last is durable. */
  stored(): Promise<void> {
    return this.#arming;
  }

  #needs(at: number | undefined): void {
    this.#neededAt = at;
    shortWork.note(this, at, this.#options.clock.now());
  }

  #arm(at: number | undefined): void {
    this.#armedAt = at;
    const push = (): Promise<void> => this.#options.alarm.set(at);
    this.#arming = this.#arming.then(push, push);
    this.#arming.catch((error: unknown) => {
      this.#armedAt = undefined;
      this.#options.log.error("wake.failed", { code: failureCode(error) });
    });
  }
}
