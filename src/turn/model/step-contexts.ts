import type {
  CallWarning,
  DynamicToolCall,
  DynamicToolResult,
  FinishReason,
  LanguageModelUsage,
  ProviderMetadata,
  StaticToolCall,
  StaticToolResult,
  ToolSet,
  TypedToolCall,
  TypedToolResult,
  UIMessage,
} from "ai";
import type { TurnInfo } from "../../core/turn/turn-info.ts";
import type { StepContext } from "../hooks.ts";

/** Facts about a model call beside its answer. */
export interface CallFacts {
  readonly model: StepContext["model"];
  readonly finishReason?: FinishReason | undefined;
  readonly rawFinishReason?: string | undefined;
  readonly usage?: LanguageModelUsage | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
  readonly warnings?: CallWarning[] | undefined;
  readonly request?: StepContext["request"];
  readonly response?: StepContext["response"];
}

const UNKNOWN_USAGE: LanguageModelUsage = {
  inputTokens: undefined,
  inputTokenDetails: { noCacheTokens: undefined, cacheReadTokens: undefined, cacheWriteTokens: undefined },
  outputTokens: undefined,
  outputTokenDetails: { textTokens: undefined, reasoningTokens: undefined },
  totalTokens: undefined,
};

/**
 * Returns the steps of an answer from its stored message. Facts from the model's server are known only to the process
 * that made the call: `factsOf`.
 */
export function stepContextsOf(
  message: UIMessage,
  turn: TurnInfo | undefined,
  factsOf: (stepNumber: number) => CallFacts | undefined,
): StepContext[] {
  return stepsOf(message.parts).map((parts, stepNumber) => {
    const facts = factsOf(stepNumber);
    const toolCalls = parts.flatMap(toolCallOf);
    const toolResults = parts.flatMap(toolResultOf);
    return {
      stepNumber,
      model: facts?.model,
      text: textOf(parts, "text"),
      reasoning: parts.flatMap((part) =>
        part.type === "reasoning" ? [{ type: "reasoning", text: part.text }] : [],
      ),
      reasoningText: textOf(parts, "reasoning") || undefined,
      files: parts.flatMap(fileOf),
      sources: parts.flatMap(sourceOf),
      toolCalls,
      staticToolCalls: toolCalls.filter(isStatic),
      dynamicToolCalls: toolCalls.filter(isDynamic),
      toolResults,
      staticToolResults: toolResults.filter(isStatic),
      dynamicToolResults: toolResults.filter(isDynamic),
      finishReason: facts?.finishReason ?? (toolCalls.length > 0 ? "tool-calls" : "stop"),
      rawFinishReason: facts?.rawFinishReason,
      usage: facts?.usage ?? UNKNOWN_USAGE,
      warnings: facts?.warnings,
      request: facts?.request ?? {},
      response: facts?.response,
      providerMetadata: facts?.providerMetadata,
      message,
      turn,
    };
  });
}

/** Whether the newest step of an answer has calls of tools that have not ended. */
export function hasOpenCalls(message: UIMessage): boolean {
  const calls = (stepsOf(message.parts).at(-1) ?? []).flatMap(toolPartOf);
  return calls.some(({ state }) => state !== "output-available" && state !== "output-error");
}

type Part = UIMessage["parts"][number];
type ToolPart = Extract<Part, { readonly toolCallId: string }>;

function stepsOf(parts: readonly Part[]): Part[][] {
  const steps: Part[][] = [];
  for (const part of parts) {
    if (part.type === "step-start" || steps.length === 0) steps.push([]);
    if (part.type !== "step-start") steps.at(-1)?.push(part);
  }
  return steps;
}

function textOf(parts: readonly Part[], type: "text" | "reasoning"): string {
  return parts.map((part) => (part.type === type ? part.text : "")).join("");
}

function toolPartOf(part: Part): ToolPart[] {
  return "toolCallId" in part ? [part] : [];
}

/** A tool of the bot is static. A dynamic one is known only to the model's server. */
function callOf(part: ToolPart) {
  const isOfServer = part.type === "dynamic-tool";
  const toolName = isOfServer ? part.toolName : part.type.slice("tool-".length);
  const { input, toolCallId } = part;
  return { toolCallId, toolName, input, ...(isOfServer && { dynamic: true as const }) };
}

function toolCallOf(part: Part): TypedToolCall<ToolSet>[] {
  const [call] = toolPartOf(part);
  if (call === undefined || call.state === "input-streaming") return [];
  return [{ type: "tool-call", ...callOf(call) }];
}

function toolResultOf(part: Part): TypedToolResult<ToolSet>[] {
  const [call] = toolPartOf(part);
  if (call?.state !== "output-available") return [];
  return [{ type: "tool-result", ...callOf(call), output: call.output }];
}

type StaticOf<T> = T extends { readonly type: "tool-call" }
  ? StaticToolCall<ToolSet>
  : StaticToolResult<ToolSet>;
type DynamicOf<T> = T extends { readonly type: "tool-call" } ? DynamicToolCall : DynamicToolResult;

function isStatic<T extends TypedToolCall<ToolSet> | TypedToolResult<ToolSet>>(
  one: T,
): one is T & StaticOf<T> {
  return one.dynamic !== true;
}

function isDynamic<T extends TypedToolCall<ToolSet> | TypedToolResult<ToolSet>>(
  one: T,
): one is T & DynamicOf<T> {
  return one.dynamic === true;
}

function sourceOf(part: Part): StepContext["sources"] {
  if (part.type === "source-url") {
    const { sourceId: id, title, url } = part;
    return [{ type: "source", sourceType: "url", id, url, ...(title !== undefined && { title }) }];
  }
  if (part.type !== "source-document") return [];
  const { filename, mediaType, sourceId: id, title } = part;
  return [
    {
      type: "source",
      sourceType: "document",
      id,
      mediaType,
      title,
      ...(filename !== undefined && { filename }),
    },
  ];
}

/** Returns a file that the model has made. Its address holds its bytes. */
function fileOf(part: Part): StepContext["files"] {
  if (part.type !== "file") return [];
  const base64 = part.url.slice(part.url.indexOf(",") + 1);
  return [
    {
      base64,
      mediaType: part.mediaType,
      get uint8Array() {
        return Uint8Array.from(atob(base64), (character) => character.codePointAt(0) ?? 0);
      },
    },
  ];
}
