import type { LanguageModel } from "ai";
import { logBotFailure, runBotCode } from "../core/time/bot-code.ts";
import type { Clock } from "../core/base/deps.ts";
import type { Log } from "../core/base/log.ts";
import type { ModelLimits } from "../turn/model/model-limits.ts";
import type { Patience } from "../core/turn/model-patience.ts";
import { getMessengerContext, getTurn, inTurnContext } from "../core/turn/turn-context.ts";
import { ModelRests, recitingModel } from "../models/index.ts";
import type { RepairPart } from "../turn/model/model-messages.ts";
import type { ThinkHooks } from "../turn/hooks.ts";
import { createTranscriptStore } from "../turn/transcript-store.ts";
import { TurnEngine } from "../turn/turn-engine.ts";
import { createWaitStore } from "../turn/wait-store.ts";
import { ModelFiles } from "../messengers/turns/model-files.ts";
import { Transcripts } from "../messengers/turns/transcripts.ts";
import { turnFields } from "../messengers/turns/turn-log.ts";
import type { ObjectHost } from "./object-host.ts";
import { turnModel } from "./turn-model.ts";
import type { ModelCallEnd } from "./turn-model.ts";

/** Creates the turn engine of a conversation: with the bot's own model, prompt and tools, and this conversation's turns. */
export function createConversationEngine(object: ObjectHost, hooks: () => Partial<ThinkHooks>): TurnEngine {
  const { agent, channels, database, deps, env, log } = object;
  // The log, with the fields of the turn that the bot's code is running for.
  const turnLog = (): Log => log.with(turnFields(getTurn()?.id, getMessengerContext()));
  const botCode = (): { clock: Clock; log: Log } => ({ clock: deps.clock, log: turnLog() });
  const modelFiles = filesOf(object, turnLog);
  const rests = new ModelRests();
  const model = (
    patience: Patience | undefined,
    instead: LanguageModel | undefined,
    limits?: ModelLimits,
  ): Exclude<LanguageModel, string> => {
    const turnId = getTurn()?.id;
    const onCall = (call: ModelCallEnd): void => {
      if (turnId !== undefined) engine.events.emit(turnId, { kind: "model-ended", ...call });
    };
    const text = turnId === undefined ? undefined : object.runs.recited(turnId);
    const chosen = text === undefined ? instead : recitingModel(text);
    return turnModel({ agent, deps, env, rests, log: turnLog(), onCall }, patience, chosen, limits);
  };
  const engine = new TurnEngine({
    logOf: (operationId) => log.with(turnFields(operationId, object.thread.own.info(operationId)?.event)),
    clock: deps.clock,
    random: deps.random,
    waits: createWaitStore(database),
    model: (patience, instead, limits) => model(patience, instead, limits),
    hooks,
    turnInfo: (operationId) => object.thread.own.info(operationId),
    attachmentsOf: (operationId) => object.thread.attachments.of(operationId),
    settings: agent,
    repairPart: repairOf(agent, log),
    compaction: () => object.features.session,
    system: async () => {
      const instructions = await channels.instructions(botCode());
      const prompt = await runBotCode(botCode(), "getSystemPrompt", () => agent.getSystemPrompt());
      const added = object.thread.promptFor(getMessengerContext());
      return [instructions, prompt, added, ...(await object.features.prompts())]
        .filter((part) => part !== undefined)
        .join("\n\n");
    },
    capabilities: (tools) => capabilityBlock(object.features.capabilities(tools)),
    tools: async () => channels.narrowed(botCode(), await object.actions.tools(botCode())),
    maxSteps: (operationId) => channels.maxSteps(object.thread.own.info(operationId)) ?? agent.maxSteps,
    resolveFile: (...file) => modelFiles().resolve(...file),
    turns: () => object.thread,
    calls: () => object.thread.own.calls,
    inTurn: (operationId, body) => inTurnContext(...object.thread.shownIn(operationId), body),
  });
  return engine;
}

/** Returns the end of the system prompt that says which capabilities the turn has. Undefined if it has none. */
function capabilityBlock(lines: readonly string[]): string | undefined {
  return lines.length === 0 ? undefined : ["# Capabilities", ...lines.map((line) => `- ${line}`)].join("\n");
}

/** Returns the bot's own `repairInterruptedToolPart`, which is protected as in Think. A failure leaves the part as it is. */
function repairOf(agent: object, log: Log): RepairPart {
  const name = "repairInterruptedToolPart";
  return (part) => {
    try {
      const repair: unknown = Reflect.get(agent, name);
      return typeof repair === "function" ? (repair as RepairPart).call(agent, part) : part;
    } catch (error) {
      logBotFailure(log, name, error);
      return part;
    }
  };
}

/** Returns the files of a conversation's messages as its model reads them. Created when the first is read. */
function filesOf(object: ObjectHost, log: () => Log): () => ModelFiles {
  let files: ModelFiles | undefined;
  return () => {
    if (files !== undefined) return files;
    const { agent, database, deps, thread } = object;
    const { clock } = deps;
    const transcribe = agent.transcribe?.bind(agent);
    const transcripts =
      transcribe && new Transcripts({ clock, log, store: createTranscriptStore(database), transcribe });
    files = new ModelFiles({ clock, log, files: thread.files, transcripts });
    return files;
  };
}
