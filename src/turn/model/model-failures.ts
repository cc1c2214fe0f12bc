import type { ThinkErrorClass } from "agents/harness/think";
import { failureFields, isLogged } from "../../core/time/bot-code.ts";
import { wait } from "../../core/base/deps.ts";
import { errorCode } from "../../core/base/errors.ts";
import { isRecord } from "../../core/json/is-record.ts";
import type { ChatErrorClassification } from "../hooks.ts";
import { isOverflowMended } from "../recovery/recovery-settings.ts";
import type { TurnConfigs } from "../turn-configs.ts";
import type { TurnPatience } from "../recovery/turn-patience.ts";
import type { TurnEngineOptions } from "../turn-engine-options.ts";

interface ModelFailuresParts extends TurnEngineOptions {
  /** The limits of single turns. */
  readonly configs: TurnConfigs;
  /** Limits the failures before the first word. */
  readonly patience: TurnPatience;
}

/** Pause before the second attempt. A server may ask for a longer one, up to a limit that a person can wait for. */
const REST_MS = 300;
const LONGEST_REST_MS = 15_000;

/** Decides whether a failed model call is repeated, and how long the next call waits. */
export class ModelFailures {
  readonly #options: ModelFailuresParts;
  readonly #failures = new Map<string, number>();
  readonly #rests = new Map<string, number>();
  /** Length of an operation's text when its call failed in mid-answer. */
  readonly #saidLengths = new Map<string, number>();
  readonly #decisions = new WeakMap<object, ThinkErrorClass>();
  /** Operations whose failed call is about to be made again. */
  readonly #repeated = new Set<string>();
  /** Operations whose transcript has been summarized because a model refused it. */
  readonly #overflown = new Set<string>();

  constructor(options: ModelFailuresParts) {
    this.#options = options;
  }

  /**
   * Decides about a failed call, and logs it.
   *
   * @param saidLength length of the operation's text so far
   * @param named what the bot's own code calls the failure
   */
  judge(
    error: unknown,
    operationId: string,
    saidLength: number,
    named?: ChatErrorClassification,
  ): ThinkErrorClass {
    const failures = (this.#failures.get(operationId) ?? 0) + 1;
    this.#failures.set(operationId, failures);
    const code = errorCode(error) ?? "model-failed";
    const isRetryable = RETRYABLE[named ?? "unknown"] ?? (isRecord(error) && error.retryable === true);
    const isOverflow = isUnknown(named) ? code === "context-overflow" : named === "context_overflow";
    const decision: ThinkErrorClass = isOverflow
      ? this.#onOverflow(operationId)
      : isRetryable && failures < this.#attempts(operationId) && !this.#options.patience.isOver(operationId)
        ? "retry"
        : "fail";
    if (isRecord(error)) this.#decisions.set(error, decision);
    if (decision === "retry") {
      this.#repeated.add(operationId);
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

  /** Whether the operation's call is made again because it failed, and not because the process died. True once. */
  takeRepeated(operationId: string): boolean {
    return this.#repeated.delete(operationId);
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

  /** Forgets an operation that has ended. */
  end(operationId: string): void {
    this.forget(operationId);
    this.#overflown.delete(operationId);
    this.#repeated.delete(operationId);
  }

  /** Forgets an operation's failures after a success. */
  forget(operationId: string): void {
    this.#saidLengths.delete(operationId);
    this.#failures.delete(operationId);
  }

  /** A summary is made once. If the transcript does not fit then, another one would not help. */
  #onOverflow(operationId: string): ThinkErrorClass {
    if (this.#overflown.has(operationId) || !isOverflowMended(this.#options.settings)) return "fail";
    this.#overflown.add(operationId);
    return "context-overflow";
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

/** Whether a call is made again after a failure that the bot's own code has named. */
const RETRYABLE: Readonly<Partial<Record<ChatErrorClassification, boolean>>> = {
  rate_limit: true,
  transient: true,
  fatal: false,
};

function isUnknown(named: ChatErrorClassification | undefined): boolean {
  return named === undefined || named === "unknown";
}

function restMs(error: unknown): number {
  if (!isRecord(error)) return 0;
  const asked =
    "retryAfterMs" in error && typeof error.retryAfterMs === "number" ? error.retryAfterMs : undefined;
  if (asked !== undefined) return Math.min(asked, LONGEST_REST_MS);
  return errorCode(error) === "model-cut" || errorCode(error) === "model-stalled" ? 0 : REST_MS;
}
