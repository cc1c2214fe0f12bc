import { systemDeps, type Deps } from "../core/base/deps.ts";
import { ConfigurationError } from "../core/base/errors.ts";
import { getMessengerContext } from "../core/turn/turn-context.ts";
import { parseBaseUrl, setting } from "./env-setting.ts";
import type { ModelInstance } from "./guard-model.ts";
import { LazyModel } from "./lazy-model.ts";
import { mergeStreamEvents } from "./merge-stream-events.ts";
import { isWorkersAiId, workersAiModel } from "./workers-ai-model.ts";

/** The names that `modelFromEnv` reads. An empty value counts as none. */
export interface ModelEnvironment {
  /** Base URL of an OpenAI-compatible server, up to `/v1`. @default "https://api.openai.com/v1" */
  readonly OPENAI_BASE_URL?: string;
  /** Its key. Local servers often need none. */
  readonly OPENAI_API_KEY?: string;
  /** A key for Anthropic's API. */
  readonly ANTHROPIC_API_KEY?: string;
  /** A proxy for Anthropic's API. @default "https://api.anthropic.com/v1" */
  readonly ANTHROPIC_BASE_URL?: string;
  /**
   * The model's id, as its provider names it. Required for an OpenAI-compatible server.
   * @default Anthropic: `claude-sonnet-5`; Workers AI: `@cf/openai/gpt-oss-120b`
   */
  readonly MODEL?: string;
  /** The binding of Workers AI. */
  readonly AI?: unknown;
}

export interface ConfiguredModel {
  readonly model: ModelInstance;
  /** Text for a log line: the provider, its origin and the model, never a key. */
  readonly describe: string;
}

/** The model that `switchboard dev` puts beside the bot's code, in the same process. Any other bot has none. */
const DEMO = Symbol.for("switchboard.demo-model");

export const DEFAULT_ANTHROPIC_MODEL = "claude-sonnet-5";
export const DEFAULT_WORKERS_AI_MODEL = "@cf/openai/gpt-oss-120b";
/** Short enough for text that people watch as it grows. A chat is edited at most every 700 ms. */
const MERGE_EVENTS_MS = 100;
const MERGE_MESSENGER_EVENTS_MS = 500;
const PUBLIC_OPENAI_BASE_URL = "https://api.openai.com/v1";

/**
 * Returns the model that the environment names. The first of these that applies:
 *
 * 1. `OPENAI_BASE_URL` or `OPENAI_API_KEY`: an OpenAI-compatible server; `MODEL` is required
 * 2. `ANTHROPIC_API_KEY`: Anthropic
 * 3. the binding `AI`: Workers AI
 * 4. nothing: under `switchboard dev` a demo model, which is not a language model
 *
 * The packages of the providers are optional: `@ai-sdk/openai-compatible`, `@ai-sdk/anthropic` and
 * `workers-ai-provider`. If the one that the environment asks for is missing, `/health` and every call name it.
 *
 * @throws {ConfigurationError} if a value is missing, wrong, or contradicts another
 */
export function modelFromEnv(
  env: ModelEnvironment,
  deps: Pick<Deps, "clock" | "fetch"> = systemDeps,
): ConfiguredModel {
  const baseUrl = setting(env.OPENAI_BASE_URL);
  const openaiKey = setting(env.OPENAI_API_KEY);
  const anthropicKey = setting(env.ANTHROPIC_API_KEY);
  const modelId = setting(env.MODEL);
  const hasOpenai = baseUrl !== undefined || openaiKey !== undefined;

  if (hasOpenai && anthropicKey !== undefined) {
    throw new ConfigurationError(
      "model-ambiguous",
      "ANTHROPIC_API_KEY and OPENAI_BASE_URL or OPENAI_API_KEY are both set, so it is not clear which model to use. " +
        "Keep the ones of one provider.",
    );
  }
  if (hasOpenai) return openaiCompatible(baseUrl ?? PUBLIC_OPENAI_BASE_URL, openaiKey, modelId, deps);
  if (anthropicKey !== undefined)
    return anthropic(anthropicKey, setting(env.ANTHROPIC_BASE_URL), modelId, deps);
  if (env.AI !== undefined && env.AI !== null) {
    const id = modelId ?? DEFAULT_WORKERS_AI_MODEL;
    return { model: workersAiModel(env, id), describe: `Workers AI, model ${id}` };
  }
  if (modelId !== undefined) {
    throw new ConfigurationError(
      "model-provider-missing",
      `MODEL is "${modelId}", but nothing says where it runs. Set OPENAI_BASE_URL and OPENAI_API_KEY, or ` +
        "ANTHROPIC_API_KEY, or bind Workers AI as AI.",
    );
  }
  const demo: ModelInstance | undefined = Reflect.get(globalThis, DEMO);
  if (demo !== undefined) return { model: demo, describe: "the built-in demo model" };
  throw new ConfigurationError(
    "model-not-set",
    "No model is set. Set OPENAI_BASE_URL or OPENAI_API_KEY, and MODEL; or set ANTHROPIC_API_KEY; or bind Workers AI " +
      "as AI. Only `switchboard dev` has a demo that answers without one.",
  );
}

function openaiCompatible(
  baseUrl: string,
  apiKey: string | undefined,
  modelId: string | undefined,
  deps: Pick<Deps, "clock" | "fetch">,
): ConfiguredModel {
  const { origin, pathname } = parseBaseUrl("OPENAI_BASE_URL", baseUrl, PUBLIC_OPENAI_BASE_URL);
  if (modelId === undefined) {
    throw new ConfigurationError(
      "model-missing",
      `MODEL is not set. Set it to the id of a model that ${origin} serves (GET ${origin}${pathname.replace(/\/$/, "")}/models lists them).`,
    );
  }
  const fetch = mergeStreamEvents(deps.fetch, {
    clock: deps.clock,
    mergeMs: getMessengerContext() === undefined ? MERGE_EVENTS_MS : MERGE_MESSENGER_EVENTS_MS,
  });
  const model = new LazyModel({
    packageName: "@ai-sdk/openai-compatible",
    provider: "openai-compatible.chat",
    modelId,
    load: async (missing) => {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible").catch(missing);
      const settings = { name: "openai-compatible", baseURL: baseUrl, apiKey, fetch };
      return createOpenAICompatible(settings).chatModel(modelId);
    },
  });
  return {
    model,
    describe: `OpenAI-compatible server at ${origin}, model ${modelId}`,
  };
}

function anthropic(
  apiKey: string,
  baseUrl: string | undefined,
  modelId: string | undefined,
  deps: Pick<Deps, "fetch">,
): ConfiguredModel {
  const id = modelId ?? DEFAULT_ANTHROPIC_MODEL;
  if (isWorkersAiId(id)) {
    throw new ConfigurationError(
      "model-id-invalid",
      `MODEL is "${id}", which is a Workers AI model, but ANTHROPIC_API_KEY is set. ` +
        `Remove ANTHROPIC_API_KEY, or set MODEL to an Anthropic model such as "${DEFAULT_ANTHROPIC_MODEL}".`,
    );
  }
  const proxy =
    baseUrl === undefined
      ? undefined
      : parseBaseUrl("ANTHROPIC_BASE_URL", baseUrl, "https://api.anthropic.com/v1");
  const model = new LazyModel({
    packageName: "@ai-sdk/anthropic",
    provider: "anthropic.messages",
    modelId: id,
    load: async (missing) => {
      const { createAnthropic } = await import("@ai-sdk/anthropic").catch(missing);
      return createAnthropic({ apiKey, baseURL: baseUrl, fetch: deps.fetch })(id);
    },
  });
  return {
    model,
    describe: `Anthropic${proxy === undefined ? "" : ` at ${proxy.origin}`}, model ${id}`,
  };
}
