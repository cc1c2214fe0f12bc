import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";

/** Parts that come before the model has said or done anything. Some servers send them long before they begin to work. */
const OPENINGS: ReadonlySet<LanguageModelV4StreamPart["type"]> = new Set([
  "stream-start",
  "response-metadata",
  "raw",
  "text-start",
  "reasoning-start",
]);

/** Whether a part of a stream says that the model has begun to answer. Its thinking counts. */
export function isOutput({ type }: LanguageModelV4StreamPart): boolean {
  return !OPENINGS.has(type);
}
