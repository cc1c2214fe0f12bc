import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { createWorkersAI } from "workers-ai-provider";
import { ConfigurationError } from "../core/base/errors.ts";
import { LazyModel } from "./lazy-model.ts";

/** The part of a Worker's environment that Workers AI needs: its binding, named `AI`. */
export interface WorkersAiEnvironment {
  readonly AI?: unknown;
}

type Binding = Extract<Parameters<typeof createWorkersAI>[0], { binding: unknown }>["binding"];

/**
 * Returns a model of Workers AI by its id, e.g. `@cf/openai/gpt-oss-120b`.
 *
 * @throws {ConfigurationError} if the id is not one of Workers AI, or the binding is missing
 */
export function workersAiModel(env: WorkersAiEnvironment, id: string): LanguageModelV4 {
  if (!isWorkersAiId(id)) {
    throw new ConfigurationError(
      "model-id-invalid",
      `"${id}" is not a Workers AI model id: those begin with "@cf/" or "@hf/". ` +
        "For a model of another provider return the provider's model object from getModel().",
    );
  }
  if (!isBinding(env.AI)) {
    throw new ConfigurationError(
      "model-binding-missing",
      `Model "${id}" runs on Workers AI, and the worker has no binding "AI". ` +
        'Add "ai": { "binding": "AI" } to wrangler.jsonc.',
    );
  }
  const binding = env.AI;
  return new LazyModel({
    packageName: "workers-ai-provider",
    provider: "workersai.chat",
    modelId: id,
    load: async (missing) =>
      (await import("workers-ai-provider").catch(missing)).createWorkersAI({ binding })(id),
  });
}

/** Tells whether a model id belongs to Workers AI. */
export function isWorkersAiId(id: string): boolean {
  return /^@(cf|hf)\/\S+\/\S+$/.test(id);
}

function isBinding(value: unknown): value is Binding {
  return typeof value === "object" && value !== null && "run" in value;
}
