import type {
  JSONValue,
  LanguageModel,
  ModelMessage,
  StepResult,
  StopCondition,
  StreamTextOnChunkCallback,
  ToolChoice,
  ToolSet,
  TypedToolCall,
  UIMessage,
} from "ai";
import type { TurnInfo } from "../core/turn-info.ts";

/**
 * What the bot's own code may see and change of a turn, in messengers and `chat()` alike. All hooks run with the turn's
 * context: `getMessengerContext()` and `getTurn()` work.
 *
 * A hook that throws, or takes longer than 30 seconds, ends nothing: the log says so (`bot.failed`), and the turn goes
 * on as if the hook had returned nothing. Only a tool call whose `beforeToolCall` failed does not run.
 */
export interface ThinkHooks {
  /** Before the first model call of a turn, and again where a restart continues the turn. */
  beforeTurn(context: TurnContext): TurnConfig | void | Promise<TurnConfig | void>;
  /** Before each model call. */
  beforeStep(context: PrepareStepContext): StepConfig | void | Promise<StepConfig | void>;
  /** Before a tool runs, in the order of the calls. */
  beforeToolCall(context: ToolCallContext): ToolCallDecision | void | Promise<ToolCallDecision | void>;
  /** After each tool call, also one that did not run. */
  afterToolCall(context: ToolCallResultContext): void | Promise<void>;
  /** After each model call, before its tools run. */
  onStepFinish(context: StepContext): void | Promise<void>;
  /** For each piece that the model streams. Often; nobody waits for it. */
  onChunk(context: ChunkContext): void | Promise<void>;
  /** After a turn has ended and its answer is stored. Once, or again where the process died before it had returned. */
  onChatResponse(result: ChatResponseResult): void | Promise<void>;
  /** When a turn fails. What it returns is the `error` of `onChatResponse`; nobody in a chat sees it. */
  onChatError(error: unknown, context: ChatErrorContext): unknown;
}

const NAMES = [
  "beforeTurn",
  "beforeStep",
  "beforeToolCall",
  "afterToolCall",
  "onStepFinish",
  "onChunk",
  "onChatResponse",
  "onChatError",
] as const satisfies readonly (keyof ThinkHooks)[];

/** The hooks that a bot has. Those that it has not cost nothing. */
export function ownHooks(bot: Partial<ThinkHooks>): Partial<ThinkHooks> {
  const own = NAMES.flatMap((name) => {
    const hook: unknown = bot[name];
    return typeof hook === "function" ? [[name, hook.bind(bot) as unknown] as const] : [];
  });
  return Object.fromEntries(own);
}

export interface TurnContext {
  /** The system prompt, as the model will get it. */
  readonly system: string;
  /** The transcript, as the model will get it. */
  readonly messages: readonly ModelMessage[];
  readonly tools: ToolSet;
  readonly model: LanguageModel;
  /** Whether the turn was at work before: the process died in the middle of it. */
  readonly continuation: boolean;
  readonly turn: TurnInfo | undefined;
}

/** What one model call may use instead of the bot's own. */
export interface StepConfig {
  readonly model?: LanguageModel;
  readonly system?: string;
  /** In place of the transcript. */
  readonly messages?: readonly ModelMessage[];
  /** Only these tools are offered. */
  readonly activeTools?: readonly string[];
  readonly toolChoice?: ToolChoice<ToolSet>;
  readonly providerOptions?: Record<string, Record<string, JSONValue>>;
}

/** What a turn may use instead of the bot's own. */
export interface TurnConfig extends StepConfig {
  /** Tools beside those of `getTools()`. */
  readonly tools?: ToolSet;
  /** Most model calls of this turn. @default `maxSteps` of the bot */
  readonly maxSteps?: number;
  /** Ends the turn after a step, earlier than `maxSteps`: one condition of the AI SDK, or several of which one is enough. */
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

/** A call of a tool that the model has asked for. */
export type ToolCallContext<TOOLS extends ToolSet = ToolSet> = TypedToolCall<TOOLS> & ToolCallExtras;

export interface ToolCallExtras {
  /** The step whose model call asked for it, from 0. */
  readonly stepNumber: number;
  /** How often this call has been begun, counting this time: more than once after a crash. */
  readonly attempt: number;
  /** The transcript up to the call. */
  readonly messages: readonly ModelMessage[];
  /** Aborts when the turn ends. */
  readonly abortSignal: AbortSignal | undefined;
  readonly turn: TurnInfo | undefined;
}

/**
 * What becomes of a tool call.
 *
 * - `allow`: the tool runs, with another input if there is one. The input is not checked again.
 * - `block`: it does not run, and the model reads `reason` as its output.
 * - `substitute`: it does not run, and the model reads `output`.
 */
export type ToolCallDecision =
  | { readonly action: "allow"; readonly input?: unknown }
  | { readonly action: "block"; readonly reason?: string }
  | { readonly action: "substitute"; readonly output: unknown };

/** A call that has ended. Blocked and substituted calls have succeeded: the model read an output. */
export type ToolCallResultContext<TOOLS extends ToolSet = ToolSet> = ToolCallContext<TOOLS> & {
  /** From the beginning of `execute` to its end. 0 for a call that did not run. */
  readonly durationMs: number;
} & ToolCallEnd;

export type ToolCallEnd =
  | { readonly success: true; readonly output: unknown; readonly error?: never }
  /** `error`: what the tool threw. */
  | { readonly success: false; readonly error: unknown; readonly output?: never };

/** One model call and what came of it. */
export type StepContext<TOOLS extends ToolSet = ToolSet> = Pick<
  StepResult<TOOLS>,
  | "stepNumber"
  | "text"
  | "reasoningText"
  | "toolCalls"
  | "finishReason"
  | "rawFinishReason"
  | "usage"
  | "providerMetadata"
> & {
  /** The answer so far, as it is stored. */
  readonly message: UIMessage;
  readonly turn: TurnInfo | undefined;
};

export type ChunkContext<TOOLS extends ToolSet = ToolSet> = Parameters<StreamTextOnChunkCallback<TOOLS>>[0];

/** How a turn ended. */
export interface ChatResponseResult {
  /** The answer, as it is stored. Without parts, if there is none. */
  readonly message: UIMessage;
  /** The id of the turn. */
  readonly requestId: string;
  readonly continuation: boolean;
  readonly status: "completed" | "error" | "aborted";
  /** What went wrong. For the bot's own code; it may hold a provider's words. */
  readonly error?: string;
  readonly turn: TurnInfo | undefined;
}

export interface ChatErrorContext {
  /** `stream`: a model call failed. `prepare`: code of the bot that a turn needs failed, such as `getTools`. */
  readonly stage: "prepare" | "stream";
  readonly requestId: string;
  /** Whether what was said before the failure is stored. */
  readonly messagesPersisted: boolean;
  /** Set if the transcript was too long for the model, and no summary helped. */
  readonly classification?: "context_overflow";
  readonly turn: TurnInfo | undefined;
}
