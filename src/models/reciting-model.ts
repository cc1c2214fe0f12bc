import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";

const USAGE = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
} as const;

/**
 * Returns a model that says one text, whatever it is asked. A turn gets it for a text that is known already, so that
 * the text is shown and remembered as every other answer.
 */
export function recitingModel(text: string): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "recited",
    modelId: "recited",
    supportedUrls: {},
    doGenerate: async () => ({
      content: [{ type: "text", text }],
      finishReason: { unified: "stop", raw: "stop" },
      usage: USAGE,
      warnings: [],
    }),
    doStream: async () => ({
      stream: new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          controller.enqueue({ type: "stream-start", warnings: [] });
          controller.enqueue({ type: "text-start", id: "text" });
          controller.enqueue({ type: "text-delta", id: "text", delta: text });
          controller.enqueue({ type: "text-end", id: "text" });
          controller.enqueue({
            type: "finish",
            finishReason: { unified: "stop", raw: "stop" },
            usage: USAGE,
          });
          controller.close();
        },
      }),
    }),
  };
}
