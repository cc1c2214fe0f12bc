import type { LanguageModelV4 } from "@ai-sdk/provider";
import { ModelCallError } from "./model-call-error.ts";

/** Returns a model that fails every call. A turn gets it if the bot's `getModel()` threw. */
export function brokenModel(): LanguageModelV4 {
  const fail = (): never => {
    throw new ModelCallError(
      { provider: "none", modelId: "none" },
      { code: "model-failed", retryable: false },
    );
  };
  return {
    specificationVersion: "v4",
    provider: "none",
    modelId: "none",
    supportedUrls: {},
    doGenerate: fail,
    doStream: fail,
  };
}
