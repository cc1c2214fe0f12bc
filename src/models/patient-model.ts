import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import { wait } from "../core/deps.ts";
import type { Clock } from "../core/deps.ts";
import type { Patience } from "../core/model-patience.ts";
import { isOutput } from "./is-output.ts";
import { ModelCallError } from "./model-call-error.ts";
import type { ModelCallErrorCode } from "./model-call-error.ts";

/** Temporary failures of the server. Before the first word nobody has noticed them. */
const PASSING: ReadonlySet<ModelCallErrorCode> = new Set([
  "model-rate-limited",
  "model-overloaded",
  "model-unreachable",
  "model-stalled",
  "model-cut",
]);

/**
 * Returns a guarded model whose streamed calls wait for a server that cannot answer now, as long as `patience` lasts. A
 * call is only repeated while the model has said nothing; its first part is passed on at once. The wait is in memory,
 * and ends with the caller's signal.
 */
export function patientModel(model: LanguageModelV4, patience: Patience, clock: Clock): LanguageModelV4 {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      wrapStream: async ({ model, params }) => {
        try {
          return await streamPatiently(model, params, patience, clock);
        } finally {
          patience.end();
        }
      },
    },
  });
}

async function streamPatiently(
  model: LanguageModelV4,
  params: LanguageModelV4CallOptions,
  patience: Patience,
  clock: Clock,
): Promise<LanguageModelV4StreamResult> {
  for (;;) {
    const beganAt = clock.now();
    let failure: unknown;
    try {
      return await beginStream(model, params);
    } catch (error) {
      failure = error;
    }
    if (!isPassing(failure)) throw failure;
    const { code, retryAfterMs } = failure;
    const delayMs = patience.next({ code, beganAt, retryAfterMs });
    if (delayMs === undefined) throw failure;
    await wait(clock, delayMs, params.abortSignal);
  }
}

/** Resolves when the model has begun to answer. Rejects if it failed before. */
async function beginStream(
  model: LanguageModelV4,
  params: LanguageModelV4CallOptions,
): Promise<LanguageModelV4StreamResult> {
  const result = await model.doStream(params);
  const reader = result.stream.getReader();
  const opening: LanguageModelV4StreamPart[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (value.type === "error") {
      await reader.cancel(value.error);
      throw value.error;
    }
    opening.push(value);
    if (isOutput(value)) break;
  }
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start: (controller) => {
      for (const part of opening) controller.enqueue(part);
    },
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { ...result, stream };
}

function isPassing(error: unknown): error is ModelCallError {
  return error instanceof ModelCallError && error.retryable && PASSING.has(error.code);
}
