import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { Clock, Timer } from "../core/base/deps.ts";
import { classifyFailure } from "./classify-failure.ts";
import { ModelCallError, type ModelCallFailure } from "./model-call-error.ts";

/** The model's stream ended without saying that the answer is complete. */
export class CutOff extends Error {}

/** The answer reached the limit of tokens that it may have. */
export class LimitReached extends Error {}

/** The call was silent for too long. */
class Stalled extends Error {}

/** The call took longer than the bot allows. */
class TookTooLong extends Error {}

/** One call of a model: its time limit, and the link between the caller's signal and the request's signal. */
export interface Call {
  /** The signal for the request to the provider. */
  readonly signal: AbortSignal;
  readonly ended: boolean;
  /** Notes a sign of life of the model. */
  touch(): void;
  /** Called when the model begins to answer. Sets how long it may be silent from now on, in milliseconds; 0 for no limit. */
  limit(limitMs: number): void;
  /**
   * Resolves with the work, or rejects as soon as the caller aborts or the time limit passes, even if the work
   * continues.
   */
  race<T>(work: PromiseLike<T>): Promise<T>;
  /** Frees the timer and the listener. */
  end(): void;
  /** Ends the request. */
  abort(reason: unknown): void;
  /** Returns the error to throw or send for this call. Reports it to `onFailure`, except for the caller's own abort. */
  failure(
    error: unknown,
    hasOutput: boolean,
    onFailure?: (error: ModelCallError, cause: unknown) => void,
  ): unknown;
}

/**
 * @param firstLimitMs how long the call may be silent before the model begins to answer; 0 for no limit
 * @param by.answersBy when the model must have begun to answer, in epoch milliseconds. @default never
 * @param by.endsAt when the call must have ended, in epoch milliseconds. @default never
 */
export function beginCall(
  model: LanguageModelV4,
  params: LanguageModelV4CallOptions,
  clock: Clock,
  firstLimitMs: number,
  by: { readonly answersBy?: number | undefined; readonly endsAt?: number | undefined } = {},
): Call {
  const caller = params.abortSignal;
  const request = new AbortController();
  const broken = Promise.withResolvers<never>();
  // It is raced against reads. Without a read its rejection must not count as unhandled.
  broken.promise.catch(() => undefined);
  let lastSignAt = clock.now();
  let ended = false;
  let limitMs = firstLimitMs;
  let timer = limitMs > 0 ? clock.setTimeout(check, limitMs) : undefined;
  const answerTimer = stopAt(by.answersBy, () => new Stalled());
  const lastTimer = stopAt(by.endsAt, () => new TookTooLong());
  caller?.addEventListener("abort", onAbort, { once: true });

  function check(): void {
    const leftMs = lastSignAt + limitMs - clock.now();
    if (leftMs > 0) timer = clock.setTimeout(check, leftMs);
    else stop(new Stalled());
  }
  function stopAt(at: number | undefined, reason: () => Error): Timer | undefined {
    if (at === undefined) return undefined;
    return clock.setTimeout(() => stop(reason()), Math.max(0, at - clock.now()));
  }
  function onAbort(): void {
    stop(caller?.reason);
  }
  function stop(reason: unknown): void {
    broken.reject(reason);
    request.abort(reason);
  }

  return {
    signal: request.signal,
    get ended() {
      return ended;
    },
    touch: () => {
      lastSignAt = clock.now();
    },
    limit: (nextLimitMs) => {
      if (ended) return;
      if (answerTimer !== undefined) clock.clearTimeout(answerTimer);
      if (timer !== undefined) clock.clearTimeout(timer);
      limitMs = nextLimitMs;
      lastSignAt = clock.now();
      timer = limitMs > 0 ? clock.setTimeout(check, limitMs) : undefined;
    },
    race: (work) => Promise.race([work, broken.promise]),
    end: () => {
      ended = true;
      if (timer !== undefined) clock.clearTimeout(timer);
      for (const other of [answerTimer, lastTimer]) if (other !== undefined) clock.clearTimeout(other);
      caller?.removeEventListener("abort", onAbort);
    },
    abort: (reason) => request.abort(reason),
    failure: (error, hasOutput, onFailure) => {
      if (caller?.aborted) return caller.reason;
      const failure =
        error instanceof ModelCallError ? error : new ModelCallError(model, meaningOf(error, hasOutput));
      onFailure?.(failure, error);
      return failure;
    },
  };
}

function meaningOf(error: unknown, hasOutput: boolean): ModelCallFailure {
  if (error instanceof Stalled) return { code: "model-stalled", retryable: true };
  if (error instanceof TookTooLong) return { code: "model-timeout", retryable: false };
  if (error instanceof LimitReached) return { code: "model-limit", retryable: false };
  if (error instanceof CutOff) return { code: "model-cut", retryable: true };
  return classifyFailure(error, hasOutput);
}
