import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { isOutput } from "./is-output.ts";

/** Resolves when the model has begun to answer. Rejects if it failed before. */
export async function beginStream(
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
