import type { ThinkErrorClass } from "agents/harness/think";
import { failureFields, isLogged } from "../core/bot-code.ts";
import { wait } from "../core/deps.ts";
import type { Clock } from "../core/deps.ts";
import { errorCode } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import { isRecord } from "../core/is-record.ts";
import type { TurnConfigs } from "./turn-configs.ts";
import type { EngineSettings } from "./turn-engine-options.ts";
import type { TurnPatience } from "./turn-patience.ts";

export interface ModelFailuresOptions {
  readonly clock: Clock;
  /** The limits of single turns. */
  readonly configs: Pick<TurnConfigs, "maxRetries" | "stallTimeoutMs">;
  readonly logOf: (operationId: string) => Log;
  /** Limits the failures before the first word. */
  readonly patience: Pick<TurnPatience, "isOver" | "limit">;
  readonly settings: Pick<EngineSettings, "chatStreamStallTimeoutMs" | "modelAttempts">;
}

/** Pause before the second attempt. A server may ask for a longer one, up to a limit that a person can wait for. */
const REST_MS = 300;
const LONGEST_REST_MS = 15_000;

/** Decides whether a failed model call is repeated, and how long the next call waits. */
export class ModelFailures {
  readonly #options: ModelFailuresOptions;
  readonly #failures = new Map<string, number>();
  readonly #rests = new Map<string, number>();
  /** Length of an operation's text when its call failed in mid-answer. */
  readonly #saidLengths = new Map<string, number>();
  readonly #decisions = new WeakMap<object, ThinkErrorClass>();

  constructor(options: ModelFailuresOptions) {
    this.#options = options;
  }

  /**
   * Decides about a failed call, and logs it.
   *
   * @param saidLength length of the operation's text so far
   */
  judge(error: unknown, operationId: string, saidLength: number): ThinkErrorClass {
    const failures = (this.#failures.get(operationId) ?? 0) + 1;
    this.#failures.set(operationId, failures);
    const code = errorCode(error) ?? "model-failed";
    const isRetryable = isRecord(error) && "retryable" in error && error.retryable === true;
    const decision: ThinkErrorClass =
      code === "context-overflow"
        ? "context-overflow"
        : isRetryable && failures < this.#attempts(operationId) && !this.#options.patience.isOver(operationId)
          ? "retry"
          : "fail";
    if (isRecord(error)) this.#decisions.set(error, decision);
    if (decision === "retry") {
      this.#rests.set(operationId, restMs(error));
      this.#saidLengths.set(operationId, Math.max(saidLength, this.#saidLengths.get(operationId) ?? 0));
      this.#limit(operationId, code);
    }
    const log = this.#options.logOf(operationId);
    if (decision !== "fail") log.warn("turn.model-retried", { code, attempt: failures });
    else if (!isLogged(error)) log.error("turn.failed", { ...failureFields(log, error), code });
    return decision;
  }

  /** Returns the decision about an error. */
  decisionOf(error: unknown): ThinkErrorClass {
    return (isRecord(error) ? this.#decisions.get(error) : undefined) ?? "fail";
  }

  /** Waits before the next call: a moment, or the time that an overloaded server named. */
  async rest(operationId: string, signal: AbortSignal | undefined): Promise<void> {
    const delayMs = this.#rests.get(operationId);
    this.#rests.delete(operationId);
    if (delayMs === undefined || delayMs === 0) return;
    await wait(this.#options.clock, delayMs, signal);
  }

  /** Whether a call that failed in mid-answer is being made again, and has said nothing new yet. */
  isRepeating(operationId: string, saidLength: number): boolean {
    return saidLength <= (this.#saidLengths.get(operationId) ?? -1);
  }

  /** Forgets an operation's failures, after a success or at its end. */
  forget(operationId: string): void {
    this.#saidLengths.delete(operationId);
    this.#failures.delete(operationId);
  }

  /** Gives the next call the time that is left of two silences. A call that has stalled has used up the first one. */
  #limit(operationId: string, code: string): void {
    const { clock, configs, patience, settings } = this.#options;
    const stallTimeoutMs = configs.stallTimeoutMs(operationId) ?? settings.chatStreamStallTimeoutMs;
    if (stallTimeoutMs === 0) return;
    const leftMs = code === "model-stalled" ? stallTimeoutMs : 2 * stallTimeoutMs;
    patience.limit(operationId, clock.now() + leftMs);
  }

  /** Most attempts of a model call that fails in the middle of its answer. */
  #attempts(operationId: string): number {
    const { configs, settings } = this.#options;
    const retries = configs.maxRetries(operationId);
    return retries === undefined ? settings.modelAttempts : retries + 1;
  }
}

function restMs(error: unknown): number {
  if (!isRecord(error)) return 0;
  const asked =
    "retryAfterMs" in error && typeof error.retryAfterMs === "number" ? error.retryAfterMs : undefined;
  if (asked !== undefined) return Math.min(asked, LONGEST_REST_MS);
  return errorCode(error) === "model-cut" || errorCode(error) === "model-stalled" ? 0 : REST_MS;
}
