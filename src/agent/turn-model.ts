import type { LanguageModel } from "ai";
import { failureFields, logBotFailure } from "../core/time/bot-code.ts";
import type { Deps } from "../core/base/deps.ts";
import type { Log } from "../core/base/log.ts";
import type { ModelLimits } from "../turn/model/model-limits.ts";
import type { Patience } from "../core/turn/model-patience.ts";
import { getTurn } from "../core/turn/turn-context.ts";
import type { TokenUsage } from "../core/turn/token-usage.ts";
import { costOf } from "../core/turn/used-tokens.ts";
import type { TurnFact } from "../turn/turn-event.ts";
import { noteException } from "../turn/raw-errors.ts";
import { ConfigurationError } from "../core/base/errors.ts";
import {
  brokenModel,
  fallbackModel,
  guardModel,
  isFailureOfModel,
  LazyModel,
  patientModel,
  workersAiModel,
} from "../models/index.ts";
import type { ModelCallError, ModelRests } from "../models/index.ts";
import type { AgentMethods, FallbackModels, SingleModel, ThinkModel } from "./agent-methods.ts";

export interface TurnModelOptions {
  readonly agent: Pick<
    AgentMethods,
    "getModel" | "chatStreamStallTimeoutMs" | "chatStreamFirstChunkTimeoutMs" | "modelPrices"
  >;
  readonly deps: Deps;
  readonly env: object;
  readonly log: Log;
  /** The models of this object that have failed lately. */
  readonly rests: ModelRests;
  /** Called after every request to a model that has ended, unless its caller ended it. */
  readonly onCall: (call: ModelCallEnd) => void;
}

/** The end of one request to a model, as the events of a turn have it. */
export type ModelCallEnd = Omit<Extract<TurnFact, { kind: "model-ended" }>, "kind">;

const UNKNOWN: TokenUsage = { input: undefined, output: undefined };

type ModelInstance = Exclude<LanguageModel, string>;

/** A chat's message is edited at most every 700 ms, so nobody would see smaller pieces of text. */
const MESSENGER_MERGE_MS = 500;

/**
 * Returns the model that a turn calls: the bot's, or `instead`. It is guarded. With `patience` it waits for a server
 * that cannot answer now. `limits` win over those of the bot.
 */
export function turnModel(
  { agent, deps, env, log, onCall, rests }: TurnModelOptions,
  patience: Patience | undefined,
  instead: LanguageModel | undefined,
  limits: ModelLimits = {},
): ModelInstance {
  let chosen: ThinkModel;
  let models: readonly ModelInstance[];
  try {
    chosen = instead ?? agent.getModel();
    models = modelsOf(chosen, env);
  } catch (error) {
    logBotFailure(log, "getModel", error);
    return brokenModel();
  }
  const isFailure = (isSeveral(chosen) ? chosen.isFailure : undefined) ?? isFailureOfModel;
  const [first, ...others] = models.map((model) =>
    guardModel(model, {
      clock: deps.clock,
      stallTimeoutMs: limits.stallTimeoutMs ?? agent.chatStreamStallTimeoutMs,
      firstChunkTimeoutMs: limits.firstChunkTimeoutMs ?? agent.chatStreamFirstChunkTimeoutMs,
      answersBy: patience?.answersBy,
      endsAt: limits.endsAt,
      mergeMs: (getTurn()?.answerTo.length ?? 0) === 0 ? undefined : MESSENGER_MERGE_MS,
      onFailure: (error, cause) => {
        const { code, message, modelId, provider, reason, status } = error;
        // The code says nothing more about an exception that is of no known kind.
        const exception = code === "model-failed" && cause !== error ? failureFields(log, cause) : undefined;
        const of = { provider, model: modelId, reason, message };
        const at = exception?.at === undefined ? undefined : log.reveal(String(exception.at));
        noteException(error, cause);
        log.error("model.call-failed", { code, status, ...of, exception: exception?.message, at });
        onCall({ provider, model: modelId, code, usage: UNKNOWN, cost: 0 });
        if (models.length > 1 && isFailure(error)) rests.failed(error, deps.clock.now());
      },
      onUsage: (usage) => {
        const { modelId, provider } = model;
        const cost = costOf(agent.modelPrices, modelId, usage);
        onCall({ provider, model: modelId, code: undefined, usage, cost });
      },
    }),
  );
  if (first === undefined) return brokenModel();
  const onFallback = (failed: ModelCallError, next: Pick<ModelInstance, "modelId">): void =>
    log.warn("turn.model-changed", { code: failed.code, from: failed.modelId, to: next.modelId });
  const guarded =
    others.length === 0
      ? first
      : fallbackModel([first, ...others], { rests, clock: deps.clock, isFailure, onFallback });
  return patience === undefined ? guarded : patientModel(guarded, patience, deps.clock);
}

function isSeveral(chosen: ThinkModel): chosen is FallbackModels {
  return typeof chosen === "object" && "models" in chosen;
}

/** @throws {ConfigurationError} `models-missing`, or `model-not-returned` */
function modelsOf(chosen: ThinkModel | undefined | null, env: object): readonly ModelInstance[] {
  if (chosen === undefined || chosen === null)
    throw new ConfigurationError(
      "model-not-returned",
      "getModel() returns nothing. Let it return a model: return modelFromEnv(this.env);",
    );
  if (!isSeveral(chosen)) return [modelOf(chosen, env)];
  if (chosen.models.length > 0) return chosen.models.map((model) => modelOf(model, env));
  throw new ConfigurationError(
    "models-missing",
    "getModel() returns `models` without any model: return { models: [first, fallback] }.",
  );
}

/**
 * Checks that a bot returns a model, without loading it.
 *
 * @throws whatever `getModel()` throws, and {ConfigurationError} as `modelsOf`
 */
export function checkModel(agent: Pick<AgentMethods, "getModel">, env: object): void {
  modelsOf(agent.getModel(), env);
}

/**
 * Checks that the packages of a bot's models are installed.
 *
 * @throws whatever `getModel()` throws, and {ModelCallError} `model-package-missing`
 */
export async function checkModels(agent: Pick<AgentMethods, "getModel">, env: object): Promise<void> {
  for (const model of modelsOf(agent.getModel(), env)) if (model instanceof LazyModel) await model.load();
}

/** Returns provider and name of a bot's model, for people. Undefined if it has none. */
export function describeModel(agent: Pick<AgentMethods, "getModel">): string | undefined {
  try {
    const chosen = agent.getModel();
    return (isSeveral(chosen) ? chosen.models : [chosen]).map(describeOne).join("; then ");
  } catch {
    // /health has the reason.
    return undefined;
  }
}

function describeOne(model: SingleModel): string {
  if (typeof model === "string") return `Workers AI, ${model}`;
  return "specificationVersion" in model ? `${model.provider}, ${model.modelId}` : model.describe;
}

/** Returns the AI SDK model of anything that `getModel` may return. */
function modelOf(chosen: SingleModel, env: object): Exclude<LanguageModel, string> {
  if (typeof chosen === "string") return workersAiModel(env, chosen);
  return "specificationVersion" in chosen ? chosen : chosen.model;
}
