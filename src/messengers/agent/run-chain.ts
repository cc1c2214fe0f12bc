import { isOpen } from "../../approvals/approval.ts";
import type { Approval } from "../../approvals/approval.ts";
import type { Prompt } from "../../inbox/prompt-store.ts";
import { outcomeKeyOf } from "./approval-cards.ts";

export interface RunChainHost {
  readonly approvalsOf: (turnId: string) => readonly Approval[];
  readonly promptByKey: (idempotencyKey: string) => Prompt | undefined;
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
    for (const approval of host.approvalsOf(next)) {
      if (approval.state === "waiting") isWaiting = true;
      else if (isOpen(approval.state) || !approval.isTold) isBusy = true;
      else {
        ending = endingOf(approval);
        const outcome = host.promptByKey(outcomeKeyOf(approval));
        if (outcome === undefined) continue;
        outcomes.push(outcome);
        if (outcome.state === "pending" || outcome.state === "running") isBusy = true;
        else turns.push(outcome.id);
      }
    }
  }
  return { state: isBusy ? "open" : isWaiting ? "waiting" : "over", outcomes, ending };
}

function endingOf({ reason, state }: Approval): string | undefined {
  switch (state) {
    case "done":
      return undefined;
    case "failed":
      return "action-failed";
    case "void":
      return reason ?? "void";
    default:
      return state;
  }
}
