import type { LanguageModel, ToolSet } from "ai";
import type { Clock } from "../core/base/deps.ts";
import type { Log } from "../core/base/log.ts";
import type { ModelLimits } from "./model/model-limits.ts";
import type { Patience } from "../core/turn/model-patience.ts";
import type { StoredAttachment } from "../core/message/reply-attachment.ts";
import type { TurnInfo } from "../core/turn/turn-info.ts";
import type { ThinkHooks } from "./hooks.ts";
import type { RecoverySettings } from "./recovery/recovery-settings.ts";
import type { ModelMessagesOptions, RepairPart } from "./model/model-messages.ts";
import type { OwnCompaction } from "./model/own-compaction.ts";
import type { WaitStore } from "./wait-store.ts";

export type ModelInstance = Exclude<LanguageModel, string>;

/** Settings of the bot's class, which are read for each call. */
export interface EngineSettings extends RecoverySettings {
  readonly sendReasoning: boolean;
  readonly modelPatienceMs: number;
  /** Most attempts of a model call that fails in the middle of its answer. */
  readonly modelAttempts: number;
  readonly chatStreamStallTimeoutMs: number;
  readonly maxContextTokens: number;
  readonly interruptedStep: "restart" | "continue";
}

/** The turns of a conversation, as the steps of the engine ask and tell them. An operation has the id of its turn. */
export interface EngineTurns {
  /**
   * Called before the model is called again after its tools ran. `yield` ends the operation there, with their results.
   */
  beforeStep(operationId: string): Promise<"go" | "yield">;
  /** Returns when the newest message of an operation arrived, in epoch milliseconds. */
  arrivedAt(operationId: string): number | undefined;
  /** Stores that an operation has used tokens. */
  addTokens(operationId: string, tokens: number): void;
  /** Returns how many tokens were stored for an operation. */
  usedTokens(operationId: string): number;
  /** Called before a tool with an effect runs. `block` keeps it from running. */
  beforeTool(operationId: string): Promise<"run" | "block">;
  /**
   * Called when an operation has waited for its model so long that the person should be told. May be called more than
   * once.
   */
  tellWaiting(operationId: string): void;
  /** Called when an operation no longer waits for its model, for whatever reason. */
  endWaiting(operationId: string): void;
  /**
   * Called when an operation has ended, or makes a failed call again. May be called repeatedly, and is not called if the
   * object died: use `outcome` at start.
   */
  poke(): void;
}

/** Stored facts about the tool calls of turns. */
export interface ToolCallFacts {
  /** Called when the `execute` of a tool with an effect begins. */
  begin(operationId: string, callId: string): void;
  /** Whether the `execute` of a tool with an effect has begun before, as far as is known. */
  hasBegun(operationId: string, callId: string): boolean;
  /** Whether the result of a call waits for somebody's decision. */
  isWaiting(operationId: string, callId: string): boolean;
  /** Called when an operation ends early. Its text so far is its answer. `out-of-steps`: the model wanted to go on. */
  endHere(operationId: string, why: "parking" | "out-of-steps"): void;
}

/** The agent's functions that the turn engine needs. Functions of a turn run inside that turn's context. */
export interface TurnEngineOptions {
  /** Returns the log of an operation, whose lines name the operation. */
  readonly logOf: (operationId: string) => Log;
  readonly clock: Clock;
  readonly random: () => number;
  readonly waits: WaitStore;
  /**
   * The model of one call: the bot's, or `instead`. Only a call with `patience` waits for a model that cannot answer
   * now.
   */
  readonly model: (
    patience: Patience | undefined,
    instead?: LanguageModel,
    limits?: ModelLimits,
  ) => ModelInstance | Promise<ModelInstance>;
  readonly hooks: () => Partial<ThinkHooks>;
  readonly turnInfo: (operationId: string) => TurnInfo | undefined;
  /** Returns what actions have attached to the answer of an operation. @default nothing */
  readonly attachmentsOf?: (operationId: string) => readonly StoredAttachment[];
  readonly settings: EngineSettings;
  /** The bot's own way to tell the model of an interrupted tool call. */
  readonly repairPart: RepairPart;
  /** The bot's own way to make transcripts shorter. @default none */
  readonly compaction?: () => OwnCompaction | undefined;
  readonly system: () => string | undefined | Promise<string | undefined>;
  /** Returns what ends the system prompt of a model that is offered these tools. @default nothing */
  readonly capabilities?: (tools: readonly string[]) => string | undefined;
  readonly tools: () => ToolSet | Promise<ToolSet>;
  /** Most model calls of an operation. */
  readonly maxSteps: (operationId: string) => number;
  readonly resolveFile: (
    ...file: [...Parameters<ModelMessagesOptions["resolveFile"]>, signal: AbortSignal | undefined]
  ) => ReturnType<ModelMessagesOptions["resolveFile"]>;
  /** The turns of the conversation. Asked for when an operation needs them, because the engine is created first. */
  readonly turns: () => EngineTurns;
  readonly calls: () => ToolCallFacts;
  /** Runs the bot's code in a context that knows the current turn. */
  readonly inTurn: <T>(operationId: string, body: () => T) => T;
}

/**
 * The end of an operation. `text` is its whole text, also if it failed. `isOverloaded` means that it failed because the
 * model could not answer for too long.
 */
export type TurnOutcome =
  | { readonly kind: "open" }
  | { readonly kind: "unknown" }
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "stopped"; readonly text: string }
  | {
      readonly kind: "failed";
      readonly text: string;
      readonly isOverloaded?: boolean;
      /** The bot's own text for the person, instead of that of the messenger. */
      readonly instead?: string | undefined;
      /** Reason of the failure, for the bot's own code. It may contain a provider's words. */
      readonly reason?: string | undefined;
    };
