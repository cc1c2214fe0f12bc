import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import { wait } from "../core/base/deps.ts";
import type { Clock } from "../core/base/deps.ts";
import type { Patience } from "../core/turn/model-patience.ts";
import { beginStream } from "./begin-stream.ts";
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

/** Tells whether the same call may succeed soon. */
export function isPassing(error: unknown): error is ModelCallError {
  return error instanceof ModelCallError && error.retryable && PASSING.has(error.code);
}
