import type {
  LanguageModelV4,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import type { Clock } from "../core/base/deps.ts";
import { beginStream } from "./begin-stream.ts";
import { ModelCallError } from "./model-call-error.ts";
import { isPassing } from "./patient-model.ts";

/** After a failure, calls begin with the next model for this long, unless the server names another time. */
const REST_MS = 60_000;
const LONGEST_REST_MS = 10 * 60_000;

/**
 * Remembers which models have failed lately, so that not every call waits for a server that is away. In memory only:
 * after a restart the first model is tried again.
 */
export class ModelRests {
  readonly #until = new Map<string, number>();

  /** Lets a model rest after a failure. */
  failed({ modelId, provider, retryAfterMs = REST_MS }: ModelCallError, now: number): void {
    this.#until.set(`${provider} ${modelId}`, now + Math.min(retryAfterMs, LONGEST_REST_MS));
  }

  isResting({ modelId, provider }: Pick<LanguageModelV4, "modelId" | "provider">, now: number): boolean {
    return (this.#until.get(`${provider} ${modelId}`) ?? 0) > now;
  }
}

export interface FallbackOptions {
  readonly rests: ModelRests;
  readonly clock: Clock;
  /** Whether the next model is asked after this failure. */
  readonly isFailure: (error: ModelCallError) => boolean;
  /** Called before the next model is asked. */
  readonly onFallback: (failed: ModelCallError, next: LanguageModelV4) => void;
}

/** Tells by default whether another model may do better. A conversation that is too long is too long for all of them. */
export function isFailureOfModel({ code }: Pick<ModelCallError, "code">): boolean {
  return code !== "context-overflow" && code !== "model-limit" && code !== "model-timeout";
}

/**
 * Returns a model that asks the first of several guarded models, and the next ones if it fails before its first word. A
 * model that has failed lately is asked last.
 *
 * If all fail, the error is one that may pass, if there is one, so that the turn waits and asks all of them again.
 */
export function fallbackModel(
  models: readonly [LanguageModelV4, ...LanguageModelV4[]],
  options: FallbackOptions,
): LanguageModelV4 {
  const [first] = models;
  return wrapLanguageModel({
    model: first,
    middleware: {
      specificationVersion: "v4",
      wrapStream: ({ params }) =>
        firstThatWorks<LanguageModelV4StreamResult>(models, options, params.abortSignal, (model) =>
          beginStream(model, params),
        ),
      wrapGenerate: ({ params }) =>
        firstThatWorks<LanguageModelV4GenerateResult>(models, options, params.abortSignal, async (model) =>
          model.doGenerate(params),
        ),
    },
  });
}

async function firstThatWorks<Result>(
  models: readonly LanguageModelV4[],
  { clock, isFailure, onFallback, rests }: FallbackOptions,
  signal: AbortSignal | undefined,
  call: (model: LanguageModelV4) => Promise<Result>,
): Promise<Result> {
  const isResting = (model: LanguageModelV4): boolean => rests.isResting(model, clock.now());
  const order = [...models.filter((model) => !isResting(model)), ...models.filter(isResting)];
  const errors: unknown[] = [];
  for (const [index, model] of order.entries()) {
    try {
      return await call(model);
    } catch (error) {
      if (signal?.aborted === true || !(error instanceof ModelCallError) || !isFailure(error)) throw error;
      errors.push(error);
      const next = order[index + 1];
      if (next !== undefined) onFallback(error, next);
    }
  }
  throw errors.find(isPassing) ?? errors[0];
}
