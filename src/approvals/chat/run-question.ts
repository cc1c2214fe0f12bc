import type { RunQuestion } from "../../scheduled-runs/run-questions.ts";
import { isOpen } from "../rules/approval.ts";
import type { Approval } from "../rules/approval.ts";
import { outcomeKeyOf } from "./card-ids.ts";

/** Returns an approval as those see it who follow the run of a schedule. */
export function runQuestionOf(approval: Approval): RunQuestion {
  const known = { outcomeKey: outcomeKeyOf(approval) };
  if (approval.state === "waiting") return { ...known, state: "waiting", ending: undefined };
  const isBusy = isOpen(approval.state) || !approval.isTold;
  return { ...known, state: isBusy ? "open" : "over", ending: endingOf(approval) };
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
