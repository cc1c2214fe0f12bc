import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { wrapLanguageModel } from "ai";
import type { LanguageModel } from "ai";
import type { TurnConfig } from "../hooks.ts";
import type { CallFacts } from "./step-contexts.ts";

type Settings = Pick<
  TurnConfig,
  "topP" | "topK" | "presencePenalty" | "frequencyPenalty" | "stopSequences" | "seed" | "headers" | "output"
>;

/**
 * Returns a model whose calls have these settings, and which reports the facts that its server returns with each call.
 */
export function withSettings(
  model: Exclude<LanguageModel, string>,
  { frequencyPenalty, headers, output, presencePenalty, seed, stopSequences, topK, topP }: Settings,
  onFacts: (facts: CallFacts) => void,
): LanguageModelV4 {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: "v4",
      transformParams: async ({ params }) => ({
        ...params,
        ...(topP !== undefined && { topP }),
        ...(topK !== undefined && { topK }),
        ...(presencePenalty !== undefined && { presencePenalty }),
        ...(frequencyPenalty !== undefined && { frequencyPenalty }),
        ...(stopSequences !== undefined && { stopSequences: [...stopSequences] }),
        ...(seed !== undefined && { seed }),
        ...(headers !== undefined && { headers: { ...params.headers, ...headers } }),
        ...(output !== undefined && { responseFormat: await output.responseFormat }),
      }),
      wrapStream: async ({ doStream }) => {
        const result = await doStream();
        let facts: CallFacts = {
          model: { provider: model.provider, modelId: model.modelId },
          request: result.request ?? {},
          response: { headers: result.response?.headers },
        };
        const listener = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
          transform(part, controller) {
            if (part.type === "stream-start") facts = { ...facts, warnings: part.warnings };
            if (part.type === "response-metadata") {
              const { id, modelId, timestamp } = part;
              facts = { ...facts, response: { ...facts.response, id, modelId, timestamp } };
            }
            if (part.type === "finish") onFacts({ ...facts, ...factsOf(part) });
            controller.enqueue(part);
          },
        });
        return { ...result, stream: result.stream.pipeThrough(listener) };
      },
    },
  });
}

function factsOf({
  finishReason,
  providerMetadata,
  usage,
}: Extract<LanguageModelV4StreamPart, { type: "finish" }>): Omit<CallFacts, "model"> {
  const { inputTokens, outputTokens } = usage;
  const isCounted = inputTokens.total !== undefined || outputTokens.total !== undefined;
  return {
    finishReason: finishReason.unified,
    rawFinishReason: finishReason.raw,
    providerMetadata,
    usage: {
      inputTokens: inputTokens.total,
      inputTokenDetails: {
        noCacheTokens: inputTokens.noCache,
        cacheReadTokens: inputTokens.cacheRead,
        cacheWriteTokens: inputTokens.cacheWrite,
      },
      outputTokens: outputTokens.total,
      outputTokenDetails: { textTokens: outputTokens.text, reasoningTokens: outputTokens.reasoning },
      totalTokens: isCounted ? (inputTokens.total ?? 0) + (outputTokens.total ?? 0) : undefined,
    },
  };
}
