import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { wrapLanguageModel, type LanguageModel } from "ai";
import { systemDeps, type Clock } from "../core/base/deps.ts";
import { isOutput } from "./is-output.ts";
import type { TokenUsage } from "../core/turn/token-usage.ts";
import { createDeltaMerger } from "./merge-deltas.ts";
import { beginCall, CutOff, LimitReached, type Call } from "./model-call.ts";
import { ModelCallError } from "./model-call-error.ts";

export interface GuardOptions {
  /** @default the runtime's clock */
  readonly clock?: Clock;
  /** Deltas of one block within this time are joined, in milliseconds; 0 for never. @default 100 */
  readonly mergeMs?: number;
  /** Longest silence between two parts of an answer, in milliseconds; 0 for no limit. @default 30000 */
  readonly stallTimeoutMs?: number;
  /** Longest silence of a streamed call before its answer begins, in milliseconds; 0 for no limit. @default 120000 */
  readonly firstChunkTimeoutMs?: number;
  /** When a streamed call must have begun to answer, in epoch milliseconds. @default never */
  readonly answersBy?: number | undefined;
  /** When a streamed call must have ended, in epoch milliseconds. @default never */
  readonly endsAt?: number | undefined;
  /** Longest time of a call that is not streamed, in milliseconds; 0 for no limit. @default 300000 */
  readonly generateTimeoutMs?: number;
  /**
   * Called once for every failed call, for the log, with the exception behind it. An abort by the caller is not a
   * failure. Must not throw.
   */
  readonly onFailure?: (error: ModelCallError, cause: unknown) => void;
  /** Called for every completed call with the tokens that the provider counted, if it counts. Must not throw. */
  readonly onUsage?: (usage: TokenUsage) => void;
}

/** Every model that is not just an id. */
export type ModelInstance = Exclude<LanguageModel, string>;

/**
 * Returns a guarded model for turns:
 *
 * - Its deltas are fewer and larger.
 * - Every failure is a `ModelCallError`. An answer that was cut off or has stalled is a failure too.
 * - After a failure the stream ends with an `error` part and a `finish` with reason `error`, so no tool of a broken
 *   answer runs.
 * - An abort by the caller's signal is passed on unchanged.
 */
export function guardModel(model: ModelInstance, options: GuardOptions = {}): LanguageModelV4 {
  const { onFailure, onUsage, clock = systemDeps.clock } = options;
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      wrapStream: ({ model, params }) => guardedStream(model, params, { ...options, clock }),
      wrapGenerate: async ({ model, params }) => {
        params.abortSignal?.throwIfAborted();
        const call = beginCall(model, params, clock, options.generateTimeoutMs ?? 300_000);
        try {
          const result = await call.race(model.doGenerate({ ...params, abortSignal: call.signal }));
          onUsage?.(countedTokens(result.usage));
          return result;
        } catch (error) {
          throw call.failure(error, false, onFailure);
        } finally {
          call.end();
        }
      },
    },
  });
}

type ClockedOptions = GuardOptions & { readonly clock: Clock };

async function guardedStream(
  model: LanguageModelV4,
  params: LanguageModelV4CallOptions,
  options: ClockedOptions,
): Promise<LanguageModelV4StreamResult> {
  params.abortSignal?.throwIfAborted();
  const { firstChunkTimeoutMs = 120_000 } = options;
  const call = beginCall(model, params, options.clock, firstChunkTimeoutMs, options);
  let result: LanguageModelV4StreamResult;
  try {
    result = await call.race(model.doStream({ ...params, abortSignal: call.signal }));
  } catch (error) {
    call.end();
    throw call.failure(error, false, options.onFailure);
  }
  const reader = result.stream.getReader();
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start: (controller) => {
      void pump(controller, reader, call, options);
    },
    cancel: (reason) => {
      call.end();
      call.abort(reason);
      return reader.cancel(reason).catch(ignoreFailedCancel);
    },
  });
  return { ...result, stream };
}

/** Reads the model's stream to its end. Never rejects: any error ends the outgoing stream. */
async function pump(
  controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>,
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  call: Call,
  options: ClockedOptions,
): Promise<void> {
  const merger = createDeltaMerger({
    clock: options.clock,
    mergeMs: options.mergeMs ?? 100,
    emit: (part) => {
      if (!call.ended) controller.enqueue(part);
    },
  });
  let hasOutput = false;
  try {
    for (;;) {
      const next = await call.race(reader.read());
      if (next.done) throw new CutOff();
      const part = next.value;
      call.touch();
      if (part.type === "error") throw part.error;
      if (part.type === "finish") {
        const failure = failureOfFinish(part);
        if (failure !== undefined) throw failure;
        options.onUsage?.(countedTokens(part.usage));
        merger.push(part);
        break;
      }
      if (!hasOutput && isOutput(part)) {
        hasOutput = true;
        call.limit(options.stallTimeoutMs ?? 30_000);
      }
      merger.push(part);
    }
    call.end();
    controller.close();
    // Nothing useful follows `finish`, and an open body would hold its connection.
    reader.cancel().catch(ignoreFailedCancel);
  } catch (error) {
    if (call.ended) return;
    merger.flush();
    const failure = call.failure(error, hasOutput, options.onFailure);
    call.end();
    if (failure instanceof ModelCallError) {
      controller.enqueue({ type: "error", error: failure });
      controller.enqueue({
        type: "finish",
        finishReason: { unified: "error", raw: undefined },
        usage: UNKNOWN_USAGE,
      });
      controller.close();
    } else {
      controller.error(failure);
    }
    reader.cancel().catch(ignoreFailedCancel);
    call.abort(failure);
  }
}

/** Ignores the failed cancel of a stream that has already failed or ended. There is nothing left to free. */
function ignoreFailedCancel(): void {}

/** Returns the failure for a `finish` part that shows an incomplete answer. */
function failureOfFinish(part: Extract<LanguageModelV4StreamPart, { type: "finish" }>): Error | undefined {
  const { unified, raw } = part.finishReason;
  if (unified === "interrupted" || raw === "stream-truncated") return new CutOff();
  if (raw === undefined && (unified === "other" || unified === "error")) return new CutOff();
  // A second call would end at the same length.
  if (unified === "length") return new LimitReached();
  if (unified === "error") return new Error("The provider finished with an error.");
  return undefined;
}

function countedTokens({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenUsage {
  return { input: inputTokens.total, output: outputTokens.total };
}

const UNKNOWN_USAGE = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
} as const;
