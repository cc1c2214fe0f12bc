import type { Approval } from "./approval.ts";
import { deciderName, nameOf } from "./approval-card.ts";

/**
 * What the model reads when an approval has ended, as a message of its own. It stands alone: action, input, who decided,
 * result. The history may have been summarised since.
 */
export function outcomeMessage(approval: Approval): string {
  const { action, input, requester, reason, outcome } = approval;
  const lines = [
    HEADLINES[approval.state],
    `Action: ${action}`,
    `Input: ${JSON.stringify(input)}`,
    requester === undefined ? undefined : `Asked for by: ${nameOf(requester)}`,
    approval.decidedBy === undefined ? undefined : `Decided by: ${deciderName(approval)}`,
    reason === undefined ? undefined : `Their words: ${JSON.stringify(reason)}`,
    outcome === undefined ? undefined : `Result: ${JSON.stringify(outcome)}`,
    NEXT[approval.state],
  ];
  return lines.filter((line) => line !== undefined).join("\n");
}

const HEADLINES = {
  waiting: "An action waits for approval.",
  approved: "An action was approved.",
  running: "An action was approved and is running.",
  done: "An action that you asked for was approved, and it is done.",
  failed: "An action that you asked for was approved, but it failed.",
  rejected: "An action that you asked for was rejected. It did not run.",
  expired: "Nobody decided in time about an action that you asked for. It did not run.",
  withdrawn: "The person took back an action that waited for approval. It did not run.",
  replaced: "Somebody asks for changes before this action may run. It did not run.",
  void: "An action that waited for approval can no longer run.",
} as const satisfies Record<Approval["state"], string>;

const NEXT = {
  waiting: undefined,
  approved: undefined,
  running: undefined,
  done: "Tell the person the result. Do not call the action again.",
  failed: "Tell the person. Do not call the action again unless they ask for it.",
  rejected: "Tell the person. Do not call the action again unless they ask for it.",
  expired: "Tell the person. Do not call the action again unless they ask for it.",
  withdrawn: "Confirm it briefly. Do not call the action again unless they ask for it.",
  replaced: "Propose it again with these changes, or ask what is meant.",
  void: "Tell the person that it was not done.",
} as const satisfies Record<Approval["state"], string | undefined>;
