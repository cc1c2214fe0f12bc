import type { ActionFailure } from "../actions/declare/action-errors.ts";
import { MAX_OUTPUT_CHARACTERS } from "../actions/declare/normalize-output.ts";
import type { Json } from "../core/message/content.ts";
import type { ToolResult } from "./mcp-calls.ts";

/** Codes of failures in `structuredContent`. The first means that the input does not fit, and nothing ran. */
const INPUT_ERROR = -32_004;
const HANDLER_ERROR = -32_005;

/**
 * Returns the result of a tool for an action's output or failure.
 *
 * @param hasSchema whether the tool says what its outputs are
 */
export function resultOf(output: Json | ActionFailure, hasSchema: boolean): ToolResult {
  const failure = failureIn(output);
  if (failure !== undefined) return failureResult(failure);
  const json = output as Json;
  const text = { type: "text", text: typeof json === "string" ? json : JSON.stringify(json) } as const;
  if (!isRecord(json)) return hasSchema ? tooLong(text) : { content: [text] };
  const { attachmentsNotSent: _, ...described } = json;
  return { content: [text], structuredContent: hasSchema ? described : json };
}

/** An output that was cut is only a text, and no client may take that for an output. */
function tooLong(beginning: ToolResult["content"][number]): ToolResult {
  const failed = failureResult({
    name: "OutputTooLong",
    message: `The action was done, but its output has more than ${MAX_OUTPUT_CHARACTERS} characters. It begins:`,
  });
  return { ...failed, content: [...failed.content, beginning] };
}

/** Returns the result of a call that has failed. */
export function failureResult({ message, name, ...more }: Failure): ToolResult {
  const code = name === "ActionInputError" ? INPUT_ERROR : HANDLER_ERROR;
  return {
    content: [{ type: "text", text: message }],
    structuredContent: { code, name, message, ...more },
    isError: true,
  };
}

type Failure = { readonly name: string; readonly message: string; readonly issues?: Json };

function failureIn(output: Json | ActionFailure): Failure | undefined {
  if (!isRecord(output) || !isRecord(output["error"])) return undefined;
  const { issues, message, name } = output["error"];
  if (typeof name !== "string" || typeof message !== "string") return undefined;
  return { name, message, ...(issues !== undefined && { issues }) };
}

function isRecord(value: unknown): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
