import type { UIMessage } from "ai";
import type { StoredOperation } from "./contract.ts";
import { ANSWER } from "./written-as.ts";

/** Returns the tokens of the messages that a turn answers. */
export function questionsOf(message: UIMessage): readonly string[] {
  const told = outcomeToken(message);
  if (told !== undefined) return [told];
  const text = textOfQuestion(message).replaceAll(QUOTE, "").replaceAll(ANSWER, "m$1");
  return text.match(/\b[mbpq]\d+\b/g) ?? [];
}

/** Returns the effect whose outcome a message tells. Undefined for any other message. */
export function effectTold(message: UIMessage): string | undefined {
  return /⟦Outcome of an action[^]*"effect":"(effect\d+)"/.exec(textOfQuestion(message))?.[1];
}

/**
 * The word by which the turn about an outcome is known: a prompt of the bot's own code. Undefined for any other message.
 * It is the outcome of an action, of a whole run of code, of one call in it that did not happen, or of a task of
 * another agent.
 */
export function outcomeToken(message: UIMessage): string | undefined {
  const effect = effectTold(message);
  if (effect !== undefined) return `q7${effect.slice("effect".length).padStart(5, "0")}`;
  const text = textOfQuestion(message);
  // Notes of the bot's own code may stand before it.
  if (!text.includes("⟦Outcome of an action")) return undefined;
  const [, run] = /"executionId":"id-(\d+)"/.exec(text) ?? [];
  if (run !== undefined) return `q8${run.padStart(5, "0")}`;
  const [, turn, index] = /"effect":"work(\d+)x(\d)"/.exec(text) ?? [];
  const [, task] = /\btask(\d+)\b/.exec(text) ?? [];
  if (task !== undefined) return `q6${task.padStart(5, "0")}`;
  return turn === undefined ? undefined : `q9${turn.padStart(4, "0")}${index}`;
}

/** Returns the text of a question as the model gets it, with quotes. */
export function textOfQuestion({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** A message that a person has quoted. It is no question. */
const QUOTE = /\[In reply to [^:]*: "[^]*?"\]\n/g;

/** Returns the message as the turn engine stores it: the text of each step, with a tool after all but the last. */
export function partsOf({ said, text }: Pick<StoredOperation, "said" | "text">): UIMessage["parts"] {
  const steps = said.flatMap((step): UIMessage["parts"] => [
    { type: "text", text: step },
    { type: "tool-any", toolCallId: "0", state: "output-available", input: {}, output: {} },
  ]);
  return text === "" ? steps : [...steps, { type: "text", text }];
}
