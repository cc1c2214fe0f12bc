import { normalizeOutput } from "../actions/declare/normalize-output.ts";
import type { Json } from "../core/message/content.ts";
import { isRecord } from "../core/json/is-record.ts";
import type {
  ChunkSnapshot,
  StepSnapshot,
  ToolCallSnapshot,
  ToolResultSnapshot,
  TurnSnapshot,
} from "./extension-api.ts";
import type {
  ChunkContext,
  StepContext,
  ToolCallContext,
  ToolCallResultContext,
  TurnContext,
} from "../turn/hooks.ts";

/** A snapshot is JSON. */
type Snapshot<Of> = { readonly [Key in keyof Of]: unknown extends Of[Key] ? Json : Of[Key] };

/** Longest text of a snapshot, in characters. */
const LONGEST_TEXT = 50_000;

export function turnSnapshot({
  continuation,
  messages,
  model,
  system,
  tools,
  turn,
}: TurnContext): Snapshot<TurnSnapshot> {
  return {
    system: system.slice(0, LONGEST_TEXT),
    toolNames: Object.keys(tools),
    messageCount: messages.length,
    continuation,
    modelId: typeof model === "string" ? model : model.modelId,
    requestId: turn?.id ?? null,
  };
}

export function callSnapshot({
  input,
  stepNumber,
  toolCallId,
  toolName,
}: ToolCallContext): Snapshot<ToolCallSnapshot> {
  return { toolName, toolCallId, input: normalizeOutput(input), stepNumber };
}

/** The words of an error stay with the bot: only its name is in the snapshot. */
export function resultSnapshot(call: ToolCallResultContext): Snapshot<ToolResultSnapshot> {
  const { durationMs, error, output, success } = call;
  const end = success ? { output: normalizeOutput(output) } : { error: normalizeOutput(error) };
  return { ...callSnapshot(call), durationMs, success, ...end };
}

export function stepSnapshot({
  finishReason,
  reasoningText,
  stepNumber,
  text,
  toolCalls,
  toolResults,
  usage,
}: StepContext): Snapshot<StepSnapshot> {
  return {
    stepNumber,
    finishReason,
    text: text.slice(0, LONGEST_TEXT),
    reasoningText: reasoningText?.slice(0, LONGEST_TEXT) ?? null,
    toolCallCount: toolCalls.length,
    toolResultCount: toolResults.length,
    usage: normalizeOutput(usage),
  };
}

export function chunkSnapshot({ chunk }: ChunkContext): Snapshot<ChunkSnapshot> {
  return {
    type: chunk.type,
    ...("text" in chunk && typeof chunk.text === "string" && { text: chunk.text.slice(0, LONGEST_TEXT) }),
    ...("toolName" in chunk && { toolName: chunk.toolName }),
    ...("toolCallId" in chunk && { toolCallId: chunk.toolCallId }),
  };
}

/** Joins two pieces of one text or one reasoning. Undefined if they are something else, or too long together. */
export function joinedChunk(before: Json, after: Json): Json | undefined {
  if (!isPiece(before) || !isPiece(after) || before.type !== after.type) return undefined;
  const text = before.text + after.text;
  return text.length > LONGEST_TEXT ? undefined : { ...before, text };
}

const PIECES: ReadonlySet<unknown> = new Set(["text-delta", "reasoning-delta"]);

function isPiece(snapshot: Json): snapshot is { readonly type: string; readonly text: string } {
  return isRecord(snapshot) && PIECES.has(snapshot["type"]) && typeof snapshot["text"] === "string";
}
