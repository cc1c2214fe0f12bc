import type { ThinkErrorClass } from "agents/harness/think";
import { isLogged } from "../core/bot-code.ts";
import { wait } from "../core/deps.ts";
import type { Clock } from "../core/deps.ts";
import { errorCode } from "../core/errors.ts";
import type { Log } from "../core/log.ts";

export interface ModelFailuresOptions {
  readonly clock: Clock;
  readonly logOf: (operationId: string) => Log;
  /** Whether an operation has waited for its model for long enough. */
  readonly isOver: (operationId: string) => boolean;
}

/**
 * A model call that failed in the middle of its answer is made once more. Failures before the first word have a limit of
 * time instead: see `TurnPatience`.
 */
const MODEL_ATTEMPTS = 2;
/** Before the second attempt; a server may ask for longer, up to a limit that a person can wait for. */
const REST_MS = 300;
const LONGEST_REST_MS = 15_000;

/** Decides what follows from a failed model call, and how long the next one waits. */
export class ModelFailures {
  readonly #options: ModelFailuresOptions;
  readonly #failures = new Map<string, number>();
  readonly #rests = new Map<string, number>();
  readonly #decisions = new WeakMap<object, ThinkErrorClass>();

  constructor(options: ModelFailuresOptions) {
    this.#options = options;
  }

  /** A call has failed. Says so in the log. */
  judge(error: unknown, operationId: string): ThinkErrorClass {
    const failures = (this.#failures.get(operationId) ?? 0) + 1;
    this.#failures.set(operationId, failures);
    const code = errorCode(error) ?? "model-failed";
    const isRetryable = isObject(error) && "retryable" in error && error.retryable === true;
    const decision: ThinkErrorClass =
      code === "context-overflow"
        ? "context-overflow"
        : isRetryable && failures < MODEL_ATTEMPTS && !this.#options.isOver(operationId)
          ? "retry"
          : "fail";
    if (isObject(error)) this.#decisions.set(error, decision);
    if (decision === "retry") this.#rests.set(operationId, restMs(error));
    const log = this.#options.logOf(operationId);
    if (decision !== "fail") log.warn("turn.model-retried", { code, attempt: failures });
    else if (!isLogged(error)) log.error("turn.failed", { code });
    return decision;
  }

  /** What was decided about an error. */
  decisionOf(error: unknown): ThinkErrorClass {
    return (isObject(error) ? this.#decisions.get(error) : undefined) ?? "fail";
  }

  /** A server that is overloaded is asked again after a moment, or after the time it named. */
  async rest(operationId: string, signal: AbortSignal | undefined): Promise<void> {
    const delayMs = this.#rests.get(operationId);
    this.#rests.delete(operationId);
    if (delayMs === undefined || delayMs === 0) return;
    await wait(this.#options.clock, delayMs, signal);
  }

  /** A call has succeeded, or the operation has ended. */
  forget(operationId: string): void {
    this.#failures.delete(operationId);
  }
}

function restMs(error: unknown): number {
  if (!isObject(error)) return 0;
  const asked =
    "retryAfterMs" in error && typeof error.retryAfterMs === "number" ? error.retryAfterMs : undefined;
  if (asked !== undefined) return Math.min(asked, LONGEST_REST_MS);
  return errorCode(error) === "model-cut" || errorCode(error) === "model-stalled" ? 0 : REST_MS;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
