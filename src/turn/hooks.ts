import type {
  JSONValue,
  LanguageModel,
  LanguageModelResponseMetadata,
  ModelMessage,
  OutputInterface,
  StaticToolCall,
  StepResult,
  StopCondition,
  StreamTextOnChunkCallback,
  TimeoutConfiguration,
  ToolChoice,
  ToolSet,
  TypedToolCall,
  UIMessage,
} from "ai";
import type { StoredAttachment } from "../core/message/reply-attachment.ts";
import type { ChatRecoveryContext, ChatRecoveryOptions } from "./recovery/recovery-settings.ts";
import type { TurnInfo } from "../core/turn/turn-info.ts";

/**
 * Hooks with which the bot's own code sees and changes turns, of messengers and `chat()` alike. `getMessengerContext()`
 * and `getTurn()` work in all of them.
 *
 * A hook that throws or takes longer than 30 seconds does not end the turn. The log says so (`bot.failed`), and the
 * turn continues as if the hook had returned nothing. One exception: a tool call whose `beforeToolCall` failed does not
 * run.
 */
export interface ThinkHooks {
  /** Before the first model call of a turn, and again after a restart that continues the turn. */
  beforeTurn(context: TurnContext): TurnConfig | void | Promise<TurnConfig | void>;
  /** Before each model call. */
  beforeStep(context: PrepareStepContext): StepConfig | void | Promise<StepConfig | void>;
  /** Before a tool runs, in the order of the calls. */
  beforeToolCall(context: ToolCallContext): ToolCallDecision | void | Promise<ToolCallDecision | void>;
  /** After each tool call, also one that did not run. */
  afterToolCall(context: ToolCallResultContext): void | Promise<void>;
  /** After each step: a model call and its tools. */
  onStepFinish(context: StepContext): void | Promise<void>;
  /** For each piece that the model streams. Called often; the turn does not wait for it. */
  onChunk(context: ChunkContext): void | Promise<void>;
  /** After a turn has ended and its answer is stored. Called again if the process died before it returned. */
  onChatResponse(result: ChatResponseResult): void | Promise<void>;
  /** When a turn fails. Its return value becomes the `error` of `onChatResponse`; nobody in a chat sees it. */
  onChatError(error: unknown, context: ChatErrorContext): unknown;
  /**
   * When a model call fails, with the provider's own error. Names its kind, which decides what happens next.
   * @default as the product knows the errors of common providers
   */
  classifyChatError(
    error: unknown,
    context: ChatErrorContext,
  ): ChatErrorClassification | void | Promise<ChatErrorClassification | void>;
  /** When a turn goes on after the process died while the model was answering. */
  onChatRecovery(
    context: ChatRecoveryContext,
  ): ChatRecoveryOptions | void | Promise<ChatRecoveryOptions | void>;
}

/**
 * The kind of a failed model call.
 *
 * - `context_overflow`: the transcript is too long. It is summarized once, see `contextOverflow`
 * - `rate_limit`, `transient`: the call is made again, as `modelAttempts` allows
 * - `fatal`: the turn ends
 * - `unknown`: as without the hook
 */
export type ChatErrorClassification = "context_overflow" | "rate_limit" | "transient" | "fatal" | "unknown";

/** Names of all hooks. */
export const HOOK_NAMES = [
  "beforeTurn",
  "beforeStep",
  "beforeToolCall",
  "afterToolCall",
  "onStepFinish",
  "onChunk",
  "onChatResponse",
  "onChatError",
  "classifyChatError",
  "onChatRecovery",
] as const satisfies readonly (keyof ThinkHooks)[];

/** Returns the hooks that a bot has. Absent hooks cost nothing. */
export function ownHooks(bot: Partial<ThinkHooks>): Partial<ThinkHooks> {
  const own = HOOK_NAMES.flatMap((name) => {
    const hook: unknown = bot[name];
    return typeof hook === "function" ? [[name, hook.bind(bot) as unknown] as const] : [];
  });
  return Object.fromEntries(own);
}

export interface TurnContext {
  /** The system prompt that the model will get. */
  readonly system: string;
  /** The transcript that the model will get. */
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolSet;
  readonly model: LanguageModel;
  /** Whether no new question began the turn: `continueLastTurn()` did, or the outcome of an action. */
  readonly continuation: boolean;
  /** Whether the turn goes on after the process died in the middle of it. */
  readonly restarted: boolean;
  readonly turn: TurnInfo | undefined;
}

/** Settings of one model call. Absent ones are the bot's own. */
export interface StepConfig {
  readonly model?: LanguageModel;
  readonly system?: string;
  /** Replaces the transcript. */
  readonly messages?: readonly ModelMessage[];
  /** Names of the tools that are offered. @default all */
  readonly activeTools?: readonly string[];
  readonly toolChoice?: ToolChoice<ToolSet>;
  readonly providerOptions?: Record<string, Record<string, JSONValue>>;
}

/** Settings of one turn. Absent ones are the bot's own. */
export interface TurnConfig extends StepConfig {
  /** Tools in addition to those of `getTools()`. */
  readonly tools?: ToolSet;
  /** Most model calls of this turn. @default `maxSteps` of the bot */
  readonly maxSteps?: number;
  /** Conditions of the AI SDK that end the turn after a step, before `maxSteps`. One that holds is enough. */
  readonly stopWhen?: StopCondition<ToolSet> | readonly StopCondition<ToolSet>[];
  /** Whether the callback of `chat()` gets the model's reasoning. @default `sendReasoning` of the bot */
  readonly sendReasoning?: boolean;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /**
   * Form of the answer, such as `Output.object({ schema })` of the AI SDK. The model is asked for it. The answer is
   * delivered as the model writes it.
   */
  readonly output?: OutputInterface<unknown, unknown, unknown>;
  /**
   * How often a failed model call is made again. 0: never.
   * @default as long as `modelPatienceMs` and `modelAttempts` of the bot allow
   */
  readonly maxRetries?: number;
  /**
   * Time limits, in milliseconds. A number limits the whole turn, from its `beforeTurn` on.
   *
   * - `totalMs`: the whole turn
   * - `stepMs`: one model call
   * - `firstChunkMs`, `chunkMs`: the model's silence before and in the middle of its answer
   * - `toolMs`, `tools`: a call of any tool, and of certain ones, such as `{ searchMs: 5000 }`.
   *
   * A model call that takes longer fails. A tool that takes longer is stopped, and the model reads that.
   */
  readonly timeout?: TimeoutConfiguration<ToolSet>;
  /**
   * Longest silence of the model in the middle of its answer, in milliseconds; 0 waits forever.
   * @default `chatStreamStallTimeoutMs` of the bot
   */
  readonly chatStreamStallTimeoutMs?: number;
}

export interface PrepareStepContext<TOOLS extends ToolSet = ToolSet> {
  /** From 0. */
  readonly stepNumber: number;
  /** The steps of this turn that are complete. */
  readonly steps: readonly StepContext<TOOLS>[];
  readonly model: LanguageModel;
  readonly messages: readonly ModelMessage[];
  readonly turn: TurnInfo | undefined;
}

/**
 * A call of a tool that the model has asked for. With the type of the bot's tools, `toolName` gives `input` its type:
 * `ToolCallContext<typeof tools>`. Calls of actions and of tools that `beforeTurn` adds come, too; give their types in
 * `TOOLS`, or leave it out.
 */
export type ToolCallContext<TOOLS extends ToolSet = ToolSet> = KnownToolCall<TOOLS> & ToolCallExtras;

/** Without the arm of calls whose tool nobody knows, because its `toolName` is any text and would keep others wide. */
type KnownToolCall<TOOLS extends ToolSet> = string extends keyof TOOLS
  ? TypedToolCall<TOOLS>
  : StaticToolCall<TOOLS>;

export interface ToolCallExtras {
  /** The step whose model call asked for the tool, from 0. */
  readonly stepNumber: number;
  /** How often this call has begun, counting this time. More than 1 after a crash. */
  readonly attempt: number;
  /** The transcript up to the call. */
  readonly messages: readonly ModelMessage[];
  /** Aborts when the turn ends. */
  readonly abortSignal: AbortSignal | undefined;
  readonly turn: TurnInfo | undefined;
}

/**
 * Decision about a tool call.
 *
 * - `allow`: the tool runs, with `input` in place of its own if there is one. That input is not checked again.
 * - `block`: it does not run, and the model reads `reason` as its output.
 * - `substitute`: it does not run, and the model reads `output`.
 */
export type ToolCallDecision =
  | { readonly action: "allow"; readonly input?: unknown }
  | { readonly action: "block"; readonly reason?: string }
  | { readonly action: "substitute"; readonly output: unknown };

/** A call that has ended. Blocked and substituted calls count as successful, because the model read an output. */
export type ToolCallResultContext<TOOLS extends ToolSet = ToolSet> = ToolCallContext<TOOLS> & {
  /** Time from the beginning of `execute` to its end, in milliseconds. 0 for a call that did not run. */
  readonly durationMs: number;
} & ToolCallEnd;

export type ToolCallEnd =
  | { readonly success: true; readonly output: unknown; readonly error?: never }
  /** `error`: the value that the tool threw. */
  | { readonly success: false; readonly error: unknown; readonly output?: never };

/** One model call, its result, and the results of its tools. */
export type StepContext<TOOLS extends ToolSet = ToolSet> = Omit<
  StepResult<TOOLS>,
  | "callId"
  | "content"
  | "model"
  | "toolsContext"
  | "runtimeContext"
  | "performance"
  | "response"
  | "experimental_steeringMessages"
> & {
  /** Provider and id of the model. Undefined for a step from before a restart. */
  readonly model: StepResult<TOOLS>["model"] | undefined;
  /** The server's facts about its response. Undefined for a step from before a restart. */
  readonly response: Partial<Omit<LanguageModelResponseMetadata, "messages">> | undefined;
  /** The stored answer so far. */
  readonly message: UIMessage;
  readonly turn: TurnInfo | undefined;
};

export type ChunkContext<TOOLS extends ToolSet = ToolSet> = Parameters<StreamTextOnChunkCallback<TOOLS>>[0];

/** The end of a turn. */
export interface ChatResponseResult {
  /** The stored answer. Without parts if the turn has none. */
  readonly message: UIMessage;
  /** The id of the turn. */
  readonly requestId: string;
  /** Whether no new question began the turn: `continueLastTurn()` did, or the outcome of an action. */
  readonly continuation: boolean;
  readonly status: "completed" | "error" | "aborted";
  /** Reason of the failure, for the bot's own code. It may contain a provider's words. */
  readonly error?: string;
  /** Files and other content that actions have added to the answer's text, in order. */
  readonly attachments: readonly StoredAttachment[];
  readonly turn: TurnInfo | undefined;
}

export interface ChatErrorContext {
  /** `stream`: a model call failed. `prepare`: code of the bot that a turn needs failed, such as `getTools`. */
  readonly stage: "prepare" | "stream";
  readonly requestId: string;
  /** Whether the text from before the failure is stored. */
  readonly messagesPersisted: boolean;
  /** Set if the transcript was too long for the model, and no summary helped. */
  readonly classification?: "context_overflow";
  readonly turn: TurnInfo | undefined;
}
