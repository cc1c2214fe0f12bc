import type { Approval } from "./approval.ts";
import { deciderName } from "./approval-card.ts";

/**
 * Returns the decision about an ended approval and the model's next task, for the turn that tells the model. The text
 * can be read alone, because the history may have been summarized since.
 */
export function decisionWords(approval: Approval): string {
  const { decidedBy, reason, state } = approval;
  const by = decidedBy === undefined ? "" : ` by ${deciderName(approval)}`;
  const words = reason === undefined ? "" : ` Their words: ${JSON.stringify(reason)}.`;
  return `${DECISIONS[state]}${by}.${words} ${NEXT[state]}`.trim();
}

const NOT_AGAIN = "Do not call the action again unless they ask for it.";

const DECISIONS = {
  waiting: "Nobody has decided",
  approved: "Approved",
  running: "Approved",
  done: "Approved",
  failed: "Approved",
  rejected: "Rejected",
  expired: "Nobody decided in time",
  withdrawn: "Taken back",
  replaced: "Changes wanted",
  void: "It can no longer run",
} as const satisfies Record<Approval["state"], string>;

const NEXT = {
  waiting: "",
  approved: "",
  running: "",
  done: "It has run. Tell the person the result. Do not call the action again.",
  failed: `It did not work. Tell the person. ${NOT_AGAIN}`,
  rejected: `It did not run. Tell the person. ${NOT_AGAIN}`,
  expired: `It did not run. Tell the person. ${NOT_AGAIN}`,
  withdrawn: `It did not run. Confirm it briefly. ${NOT_AGAIN}`,
  replaced: "It did not run. Ask what should change, then call the action again with the changes.",
  void: "It did not run. Tell the person that it was not done.",
} as const satisfies Record<Approval["state"], string>;
