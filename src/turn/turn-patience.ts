import type { Clock, Timer } from "../core/deps.ts";
import type { Log } from "../core/log.ts";
import type { PassingFailure, Patience } from "../core/model-patience.ts";
import type { EngineTurns } from "./turn-engine-options.ts";
import type { WaitStore } from "./wait-store.ts";

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

/**
 * Limits how long operations wait for a model that cannot answer now. The time is counted over all model calls of an
 * operation, and stored when a wait begins and ends. So after a crash the wait continues where it was. Time in which
 * the model answers or tools run does not count.
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
    let since = known?.since;
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
      next: ({ beganAt, code, retryAfterMs = 0 }: PassingFailure) => {
        if (since === undefined) {
          since = beganAt;
          waits.write(operationId, { waitedMs, since, isOver }, clock.now());
          tellLater();
        }
        const leftMs = Math.min(this.#options.patienceMs() - spentMs(), endsAt - clock.now());
        if (leftMs <= 0 || retryAfterMs > leftMs || attempts >= retries) {
          isOver = true;
          return undefined;
        }
        const longestMs = Math.min(FIRST_WAIT_MS * 2 ** attempts, LONGEST_WAIT_MS);
        const backoffMs = longestMs * (0.5 + random() / 2);
        const askedMs = retryAfterMs * (1 + SPREAD * random());
        attempts += 1;
        const delayMs = Math.round(Math.min(Math.max(askedMs, backoffMs), leftMs));
        const log = logOf(operationId);
        log.warn("turn.model-retried", { code, attempt: attempts, delayMs });
        return delayMs;
      },
      end: () => {
        if (timer !== undefined) clock.clearTimeout(timer);
        if (since === undefined) return;
        const allMs = spentMs();
        since = undefined;
        waits.write(operationId, { waitedMs: allMs, since, isOver }, clock.now());
        this.#options.turns().endWaiting(operationId);
      },
    };
  }

  /** Tells whether an operation ended because its model could not answer for too long. */
  isOver(operationId: string): boolean {
    return this.#options.waits.read(operationId)?.isOver === true;
  }
}
