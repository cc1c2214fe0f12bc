import type { UIMessage } from "ai";
import type { StoredOperation } from "./contract.ts";

/** Returns the tokens of the messages that a turn answers. */
export function questionsOf(message: UIMessage): readonly string[] {
  const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return text.match(/\b[mbpq]\d+\b/g) ?? [];
}

/** Returns the message as the turn engine stores it: the text of each step, with a tool after all but the last. */
export function partsOf({ said, text }: Pick<StoredOperation, "said" | "text">): UIMessage["parts"] {
  const steps = said.flatMap((step): UIMessage["parts"] => [
    { type: "text", text: step },
    { type: "tool-any", toolCallId: "0", state: "output-available", input: {}, output: {} },
  ]);
  return text === "" ? steps : [...steps, { type: "text", text }];
}
