import type { Clock, Timer } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { PassingFailure, Patience } from "../../core/turn/model-patience.ts";
import { restAfter } from "../../core/base/rest-after.ts";
import type { EngineTurns } from "../turn-engine-options.ts";
import type { ModelWait, WaitStore } from "../wait-store.ts";

export interface TurnPatienceOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly logOf: (operationId: string) => Log;
  readonly waits: WaitStore;
  /** Returns the longest time that one operation waits for its model, in milliseconds; 0 to never wait. */
  readonly patienceMs: () => number;
  readonly turns: () => Pick<EngineTurns, "tellWaiting" | "endWaiting">;
}

export interface MostPatience {
  readonly retries?: number | undefined;
  readonly endsAt?: number | undefined;
}

/** The first wait, if the server names no time. Each further one is twice as long. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** A server names the same time to everybody, so retries are spread over this share of it. */
const SPREAD = 0.1;
const TELL_AFTER_MS = 20_000;
/** Time for a repeated call whose limit passed while the bot was away. */
const LEAST_ANSWER_MS = 10_000;

/**
 * Limits how long operations wait for a model that cannot answer now. The time is counted over all model calls of an
 * operation, and stored when a wait begins and ends. So after a crash the wait continues where it was. Time in which
 * the model answers or tools run does not count. A call that is made again after it failed in mid-answer has a limit of
 * its own, because a person looks at half an answer.
 */
export class TurnPatience {
  readonly #options: TurnPatienceOptions;

  constructor(options: TurnPatienceOptions) {
    this.#options = options;
  }

  /**
   * Returns the patience for one model call of an operation.
   *
   * @param most.retries how often the call is made again at most
   * @param most.endsAt when the call must have ended, in epoch milliseconds
   */
  of(
    operationId: string,
    { retries = Number.POSITIVE_INFINITY, endsAt = Number.POSITIVE_INFINITY }: MostPatience = {},
  ): Patience {
    const { clock, logOf, random, waits } = this.#options;
    const known = waits.read(operationId);
    const waitedMs = known?.waitedMs ?? 0;
    const answersBy = this.#answersBy(known);
    let since = known?.waitingSince;
    let isOver = false;
    let attempts = 0;
    let timer: Timer | undefined;

    const spentMs = (): number => waitedMs + (since === undefined ? 0 : Math.max(0, clock.now() - since));
    const tellLater = (): void => {
      timer = clock.setTimeout(
        () => this.#options.turns().tellWaiting(operationId),
        Math.max(0, TELL_AFTER_MS - spentMs()),
      );
    };

    if (since !== undefined) tellLater();
    return {
      answersBy,
      next: ({ beganAt, code, retryAfterMs = 0 }: PassingFailure) => {
        if (since === undefined) {
          since = beganAt;
          waits.write(operationId, { waitedMs, waitingSince: since, isOver, answersBy }, clock.now());
          tellLater();
        }
        const latestAt = Math.min(endsAt, answersBy ?? Number.POSITIVE_INFINITY);
        const leftMs = Math.min(this.#options.patienceMs() - spentMs(), latestAt - clock.now());
        if (leftMs <= 0 || retryAfterMs > leftMs || attempts >= retries) {
          isOver = true;
          return undefined;
        }
        attempts += 1;
        const longestMs = restAfter(attempts, FIRST_WAIT_MS, LONGEST_WAIT_MS);
        const backoffMs = longestMs * (0.5 + random() / 2);
        const askedMs = retryAfterMs * (1 + SPREAD * random());
        const delayMs = Math.round(Math.min(Math.max(askedMs, backoffMs), leftMs));
        const log = logOf(operationId);
        log.warn("turn.model-retried", { code, attempt: attempts, delayMs });
        return delayMs;
      },
      end: () => {
        if (timer !== undefined) clock.clearTimeout(timer);
        if (since === undefined && answersBy === undefined) return;
        const allMs = spentMs();
        since = undefined;
        waits.write(
          operationId,
          { waitedMs: allMs, waitingSince: since, isOver, answersBy: undefined },
          clock.now(),
        );
        this.#options.turns().endWaiting(operationId);
      },
    };
  }

  /** Stores when the next call of an operation must have begun to answer, in epoch milliseconds. */
  limit(operationId: string, answersBy: number): void {
    const { clock, waits } = this.#options;
    const known = waits.read(operationId) ?? { waitedMs: 0, waitingSince: undefined, isOver: false };
    waits.write(operationId, { ...known, answersBy }, clock.now());
  }

  #answersBy(known: ModelWait | undefined): number | undefined {
    const now = this.#options.clock.now();
    if (known?.answersBy === undefined || known.answersBy > now) return known?.answersBy;
    return now + LEAST_ANSWER_MS;
  }

  /** Tells whether an operation ended because its model could not answer for too long. */
  isOver(operationId: string): boolean {
    return this.#options.waits.read(operationId)?.isOver === true;
  }
}
