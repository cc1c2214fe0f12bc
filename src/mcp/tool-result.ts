import type { ActionFailure } from "../actions/action-errors.ts";
import type { Json } from "../core/content.ts";
import type { ToolResult } from "./mcp-calls.ts";

/** Codes of failures in `structuredContent`. The first means that the input does not fit, and nothing ran. */
const INPUT_ERROR = -32_004;
const HANDLER_ERROR = -32_005;

/** Returns the result of a tool for an action's output or failure. */
export function resultOf(output: Json | ActionFailure): ToolResult {
  const failure = failureIn(output);
  if (failure !== undefined) return failureResult(failure);
  const json = output as Json;
  return {
    content: [{ type: "text", text: typeof json === "string" ? json : JSON.stringify(json) }],
    ...(isRecord(json) && { structuredContent: json }),
  };
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
