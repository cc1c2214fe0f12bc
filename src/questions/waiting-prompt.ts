import { fromPeople } from "../messengers/turns/own-marks.ts";
import type { ParkedCallStore } from "../replay/parked-call-store.ts";
import type { QuestionStore } from "./question-store.ts";

const MOST_LISTED = 10;

/** Returns the addition to the system prompt while calls wait for answers. */
export function waitingPrompt(
  calls: Pick<ParkedCallStore, "get">,
  questions: Pick<QuestionStore, "open">,
): string | undefined {
  const lines = questions.open().flatMap(({ call, message }) => {
    const action = call && calls.get(call.id)?.action;
    return action === undefined ? [] : [`- ${action}: ${JSON.stringify(fromPeople(message))}`];
  });
  if (lines.length === 0) return undefined;
  return [
    "⟦Actions have asked people something, and wait for the answers.⟧",
    ...lines.slice(-MOST_LISTED),
    "They have not finished. Do not call them again, and do not ask the same. An answer goes to the action, and you will be told the outcome. A message that you get is no answer.",
  ].join("\n");
}
