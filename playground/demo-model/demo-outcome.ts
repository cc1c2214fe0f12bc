import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { changedCall, wordJson, type DemoToolCall } from "./demo-tools.ts";

const OUTCOME =
  /^⟦Outcome of an action\..*\n[\s\S]*^Action: (?<action>.*)\nInput: (?<input>.*)(?:\nDecision: (?<decision>.*))?\nResult: (?<result>.*)$/m;
const WANTED = /^Changes wanted.* Their words: (?<words>"(?:[^"\\]|\\.)*")\./;
const UNCLEAR = "I did not understand what should change. Please ask again with all that it needs.";

/** Returns the reply to the outcome of an action that somebody decided about, or that asked somebody. Undefined for any other text. */
export function replyToOutcome(
  text: string,
  tools: NonNullable<LanguageModelV4CallOptions["tools"]>,
  turn: number,
): { readonly text: string; readonly calls: readonly DemoToolCall[] } | undefined {
  const { action, decision, input, result } = OUTCOME.exec(text)?.groups ?? {};
  if (action === undefined || input === undefined || result === undefined) return undefined;
  if (decision === undefined) return { text: wordJson(JSON.parse(result)), calls: [] };
  // The first sentence says what was decided. The others are for a model.
  const [said = ""] = /^[^.]*\./.exec(decision) ?? [];
  const wanted = WANTED.exec(decision)?.groups?.["words"];
  if (wanted === undefined && decision.startsWith("Changes wanted"))
    return { text: "What should change? Please reply to the request with it.", calls: [] };
  if (wanted === undefined) return { text: `${said}\n\n${wordJson(JSON.parse(result))}`, calls: [] };
  const before = { toolName: action, input: JSON.parse(input) as DemoToolCall["input"] };
  const call = changedCall(before, String(JSON.parse(wanted)), tools, turn);
  return call === undefined ? { text: `${said}\n\n${UNCLEAR}`, calls: [] } : { text: said, calls: [call] };
}
