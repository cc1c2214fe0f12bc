import type { Prompt } from "../inbox/prompt-store.ts";
import type { RunQuestions } from "./run-questions.ts";

export interface RunChainHost {
  /** Undefined if turns of this bot ask nobody. */
  readonly questions: Pick<RunQuestions, "ofTurn"> | undefined;
  readonly prompts: { byKey(idempotencyKey: string): Prompt | undefined };
}

/** A turn of a schedule with everything that followed from its questions to people. */
export interface RunChain {
  /** `waiting`: for people, and for nothing else. */
  readonly state: "open" | "waiting" | "over";
  /** The turns that told outcomes, in order. */
  readonly outcomes: readonly Prompt[];
  /** How the newest question ended, unless the action has run. */
  readonly ending: string | undefined;
}

/** Follows a turn through its questions, their outcomes, and the questions that those have led to. */
export function followRun(host: RunChainHost, turnId: string): RunChain {
  const outcomes: Prompt[] = [];
  let isWaiting = false;
  let isBusy = false;
  let ending: string | undefined;
  const turns = [turnId];
  for (let next = turns.shift(); next !== undefined; next = turns.shift()) {
    for (const question of host.questions?.ofTurn(next) ?? []) {
      if (question.state === "waiting") isWaiting = true;
      else if (question.state === "open") isBusy = true;
      else {
        ending = question.ending;
        const outcome = host.prompts.byKey(question.outcomeKey);
        if (outcome === undefined) continue;
        outcomes.push(outcome);
        if (outcome.state === "pending" || outcome.state === "running") isBusy = true;
        else turns.push(outcome.id);
      }
    }
  }
  return { state: isBusy ? "open" : isWaiting ? "waiting" : "over", outcomes, ending };
}
