import type { LanguageModel } from "ai";
import { logBotFailure } from "../../core/bot-code.ts";
import type { Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { Patience } from "../../core/model-patience.ts";
import { getTurn } from "../../core/turn-context.ts";
import type { TokenUsage } from "../../core/token-usage.ts";
import { brokenModel, guardModel, patientModel, workersAiModel } from "../../models/index.ts";
import type { AgentMethods, ThinkModel } from "./agent-methods.ts";

export interface TurnModelOptions {
  readonly agent: Pick<
    AgentMethods,
    "getModel" | "chatStreamStallTimeoutMs" | "chatStreamFirstChunkTimeoutMs"
  >;
  readonly deps: Deps;
  readonly env: object;
  readonly log: Log;
  /** Called after every completed model call, with its number of tokens. */
  readonly onUsage: (usage: TokenUsage) => void;
}

type ModelInstance = Exclude<LanguageModel, string>;

/** A chat's message is edited at most every 700 ms, so nobody would see smaller pieces of text. */
const MESSENGER_MERGE_MS = 500;

/**
 * Returns the model that a turn calls: the bot's, or `instead`. It is guarded. With `patience` it waits for a server
 * that cannot answer now.
 */
export function turnModel(
  { agent, deps, env, log, onUsage }: TurnModelOptions,
  patience: Patience | undefined,
  instead: LanguageModel | undefined,
): ModelInstance {
  let model: ModelInstance;
  try {
    model = modelOf(instead ?? agent.getModel(), env);
  } catch (error) {
    logBotFailure(log, "getModel", error);
    return brokenModel();
  }
  const guarded = guardModel(model, {
    clock: deps.clock,
    stallTimeoutMs: agent.chatStreamStallTimeoutMs,
    firstChunkTimeoutMs: agent.chatStreamFirstChunkTimeoutMs,
    mergeMs: (getTurn()?.answerTo.length ?? 0) === 0 ? undefined : MESSENGER_MERGE_MS,
    onFailure: ({ code, message, modelId, provider, reason, status }) =>
      log.error("model.call-failed", { code, status, provider, model: modelId, reason, message }),
    onUsage,
  });
  return patience === undefined ? guarded : patientModel(guarded, patience, deps.clock);
}

/** Returns provider and name of a bot's model, for people. Undefined if it has none. */
export function describeModel(agent: Pick<AgentMethods, "getModel">): string | undefined {
  try {
    const model = agent.getModel();
    if (typeof model === "string") return `Workers AI, ${model}`;
    return "specificationVersion" in model ? `${model.provider}, ${model.modelId}` : model.describe;
  } catch {
    // /health has the reason.
    return undefined;
  }
}

/** Returns the AI SDK model of anything that `getModel` may return. */
function modelOf(chosen: ThinkModel, env: object): Exclude<LanguageModel, string> {
  if (typeof chosen === "string") return workersAiModel(env, chosen);
  return "specificationVersion" in chosen ? chosen : chosen.model;
}
