import { inOneLine } from "../../core/text/one-line.ts";
import type { Action } from "../declare/action.ts";

const LONGEST = 200;

/** Returns a call of an action in words for people, in one line: its summary, else the first sentence of its description. */
export function actionWords(name: string, { approvalSummary, description }: Action, input: unknown): string {
  const words = typeof approvalSummary === "function" ? approvalSummary({ input } as never) : approvalSummary;
  const [first = name] = description.trim().split(/(?<=[.!?])\s/, 1);
  return inOneLine(words ?? first)
    .replace(/[.\s]+$/, "")
    .slice(0, LONGEST);
}
