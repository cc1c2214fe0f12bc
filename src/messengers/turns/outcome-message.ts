import type { UIMessage } from "ai";
import { fromPeople } from "./own-marks.ts";

/** An action that somebody has decided about, or that has asked somebody, and its result. */
export interface ActionOutcome {
  readonly action: string;
  readonly input: unknown;
  /** The decision in words: "approved by Ada", "rejected by Bob: too much", "expired". Undefined if nobody decided. */
  readonly decision?: string;
  /** The return value of the action, or the reason why it did not run. */
  readonly result: unknown;
  /** The scheduled task whose answer it is, if no chat has seen anything of it. */
  readonly unseenTask?: string | undefined;
}

/**
 * Returns the message that tells the model the outcome of an action. It can be read alone, because the tool call may
 * have left the transcript. Its first line has marks that no text of a person can have: see `fromPeople`.
 */
export function outcomeMessage(
  id: string,
  { action, decision, input, result, unseenTask }: ActionOutcome,
): UIMessage {
  const text = [
    "⟦Outcome of an action. The application says this, no person wrote it.⟧",
    `Action: ${line(action)}`,
    `Input: ${json(input)}`,
    ...(decision === undefined ? [] : [`Decision: ${line(decision)}`]),
    `Result: ${json(result)}`,
    ...(unseenTask === undefined
      ? []
      : [
          `⟦This belongs to the scheduled task "${unseenTask}". Nobody has seen your words about it so far: write its whole answer now.⟧`,
        ]),
  ].join("\n");
  return { id, role: "user", parts: [{ type: "text", text }] };
}

function line(text: string): string {
  return fromPeople(text).replaceAll(/\s+/g, " ").trim();
}

/** JSON has no line breaks outside of its strings, and escapes them inside. */
function json(value: unknown): string {
  return fromPeople(JSON.stringify(value) ?? "nothing");
}
