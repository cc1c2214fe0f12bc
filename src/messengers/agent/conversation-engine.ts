import type { LanguageModel } from "ai";
import { runBotCode } from "../../core/bot-code.ts";
import type { Database } from "../../core/database.ts";
import type { Clock, Deps } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { ModelLimits } from "../../core/model-limits.ts";
import type { Patience } from "../../core/model-patience.ts";
import type { TokenUsage } from "../../core/token-usage.ts";
import { costOf } from "../../core/used-tokens.ts";
import { getMessengerContext, getTurn, inTurnContext } from "../../core/turn-context.ts";
import { ModelRests, recitingModel } from "../../models/index.ts";
import type { ThinkHooks } from "../../turn/hooks.ts";
import { createTranscriptStore } from "../../turn/transcript-store.ts";
import { TurnEngine } from "../../turn/turn-engine.ts";
import { createWaitStore } from "../../turn/wait-store.ts";
import { ModelFiles } from "../turns/model-files.ts";
import { Transcripts } from "../turns/transcripts.ts";
import { turnFields } from "../turns/turn-log.ts";
import type { AgentActions } from "./agent-actions.ts";
import type { AgentMethods } from "./agent-methods.ts";
import type { ChannelPolicies } from "./channel-policies.ts";
import type { ThreadRuntime } from "./thread-runtime.ts";
import { turnModel } from "./turn-model.ts";

export interface ConversationEngineOptions {
  readonly agent: AgentMethods;
  /** The hooks that the bot's own class has. */
  readonly hooks: () => Partial<ThinkHooks>;
  readonly database: Database;
  readonly deps: Deps;
  readonly log: Log;
  readonly env: object;
  readonly thread: () => ThreadRuntime;
  readonly actions: () => AgentActions;
  readonly channels: ChannelPolicies;
  /** Returns the text of a turn whose answer is known before. */
  readonly recited: (turnId: string) => string | undefined;
}

/** Creates the turn engine of a conversation: with the bot's own model, prompt and tools, and this conversation's turns. */
export function createConversationEngine(options: ConversationEngineOptions): TurnEngine {
  const { actions, agent, channels, deps, log, recited, thread } = options;
  // The log, with the fields of the turn that the bot's code is running for.
  const turnLog = (): Log => log.with(turnFields(getTurn()?.id, getMessengerContext()));
  const botCode = (): { clock: Clock; log: Log } => ({ clock: deps.clock, log: turnLog() });
  const modelFiles = filesOf(options, turnLog);
  const rests = new ModelRests();
  const model = (
    patience: Patience | undefined,
    instead: LanguageModel | undefined,
    limits?: ModelLimits,
  ): Exclude<LanguageModel, string> => {
    const turnId = getTurn()?.id;
    const onUsage = (usage: TokenUsage, modelId: string): void => {
      if (turnId === undefined) return;
      engine.stats.countTokens(turnId, usage, costOf(agent.modelPrices, modelId, usage));
    };
    const text = turnId === undefined ? undefined : recited(turnId);
    const chosen = text === undefined ? instead : recitingModel(text);
    return turnModel({ ...options, rests, log: turnLog(), onUsage }, patience, chosen, limits);
  };
  const engine = new TurnEngine({
    logOf: (operationId) => log.with(turnFields(operationId, thread().own.info(operationId)?.event)),
    clock: deps.clock,
    random: deps.random,
    waits: createWaitStore(options.database),
    model: (patience, instead, limits) => model(patience, instead, limits),
    hooks: options.hooks,
    turnInfo: (operationId) => thread().own.info(operationId),
    attachmentsOf: (operationId) => thread().attachments.of(operationId),
    settings: agent,
    system: async () => {
      const instructions = await channels.instructions(botCode());
      const prompt = await runBotCode(botCode(), "getSystemPrompt", () => agent.getSystemPrompt());
      const added = thread().promptFor(getMessengerContext());
      return [instructions, prompt, added, actions().desk.prompt()]
        .filter((part) => part !== undefined)
        .join("\n\n");
    },
    tools: async () => channels.narrowed(botCode(), await actions().tools(botCode())),
    maxSteps: (operationId) => {
      const turn = operationId === undefined ? undefined : thread().own.info(operationId);
      return channels.maxSteps(turn) ?? agent.maxSteps;
    },
    limitsSteps: () => channels.limitsSteps(),
    resolveFile: (...file) => modelFiles().resolve(...file),
    turns: thread,
    calls: () => thread().own.calls,
    inTurn: (operationId, body) =>
      inTurnContext(thread().own.info(operationId), thread().contextOf(operationId), body),
  });
  return engine;
}

/** Returns the files of a conversation's messages as its model reads them. Created when the first is read. */
function filesOf(
  { agent, database, deps, thread }: ConversationEngineOptions,
  log: () => Log,
): () => ModelFiles {
  let files: ModelFiles | undefined;
  return () => {
    if (files !== undefined) return files;
    const { clock } = deps;
    const transcribe = agent.transcribe?.bind(agent);
    const transcripts =
      transcribe && new Transcripts({ clock, log, store: createTranscriptStore(database), transcribe });
    files = new ModelFiles({ clock, log, files: thread().files, transcripts });
    return files;
  };
}
