import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";

/**
 * Parts that come before the model has said or done anything. Some servers send them long before the model starts to
 * work.
 */
const OPENINGS: ReadonlySet<LanguageModelV4StreamPart["type"]> = new Set([
  "stream-start",
  "response-metadata",
  "raw",
  "text-start",
  "reasoning-start",
]);

/** Tells whether a part of a stream shows that the model has begun to answer. Thinking counts. */
export function isOutput({ type }: LanguageModelV4StreamPart): boolean {
  return !OPENINGS.has(type);
}
