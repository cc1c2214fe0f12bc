import type {
  FinishReason,
  LanguageModelUsage,
  ProviderMetadata,
  ToolSet,
  TypedToolCall,
  UIMessage,
} from "ai";
import type { TurnInfo } from "../core/turn-info.ts";
import type { StepContext } from "./hooks.ts";

/** Facts about a model call beside its text. */
export interface CallFacts {
  readonly finishReason?: FinishReason | undefined;
  readonly rawFinishReason?: string | undefined;
  readonly usage?: LanguageModelUsage | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
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
    const facts = factsOf(stepNumber) ?? {};
    const toolCalls = parts.flatMap(toolCallOf);
    return {
      stepNumber,
      text: textOf(parts, "text"),
      reasoningText: textOf(parts, "reasoning") || undefined,
      toolCalls,
      finishReason: facts.finishReason ?? (toolCalls.length > 0 ? "tool-calls" : "stop"),
      rawFinishReason: facts.rawFinishReason,
      usage: facts.usage ?? UNKNOWN_USAGE,
      providerMetadata: facts.providerMetadata,
      message,
      turn,
    };
  });
}

type Part = UIMessage["parts"][number];

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

function toolCallOf(part: Part): TypedToolCall<ToolSet>[] {
  if (!("toolCallId" in part) || part.state === "input-streaming") return [];
  const toolName = part.type === "dynamic-tool" ? part.toolName : part.type.slice("tool-".length);
  return [{ type: "tool-call", toolCallId: part.toolCallId, toolName, input: part.input, dynamic: true }];
}
