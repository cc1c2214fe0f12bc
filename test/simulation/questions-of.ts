import type { UIMessage } from "ai";

/** The tokens of the messages that a turn answers. */
export function questionsOf(message: UIMessage): readonly string[] {
  const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return text.match(/\b[mbp]\d+\b/g) ?? [];
}
