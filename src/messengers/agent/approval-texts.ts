import type { Approval, ApprovalDecision, DecisionResult } from "../../approvals/approval.ts";
import { grantWords } from "../../approvals/approval-card.ts";
import { LENGTH_WORDS } from "../../approvals/grant-length.ts";
import { deciderName, nameOf } from "../../approvals/outcome-words.ts";
import type { PressAnswer } from "../../core/card-press.ts";

export function alert(text: string): PressAnswer {
  return { text, alert: true };
}

/** The private word to the person who pressed. */
export function answerOf(result: DecisionResult, decision: ApprovalDecision["kind"]): PressAnswer {
  switch (result.kind) {
    case "decided": {
      const { decidedBy, offer } = result.approval;
      if (decidedBy?.granted === undefined || offer === undefined) return DONE[decision];
      const covered = `${grantWords(offer, result.approval)}, ${LENGTH_WORDS[decidedBy.granted]}`;
      return alert(`Approved. I won't ask again for this: ${covered}. /grants shows it and ends it.`);
    }
    case "late": {
      const { state } = result.approval;
      if (state === "replaced" && result.approval.decidedBy === undefined)
        return alert("A newer request has replaced this one, so nothing has changed.");
      const by = result.approval.decidedBy === undefined ? "" : ` by ${deciderName(result.approval)}`;
      return alert(`This was decided before${by}: ${STATES[state]}.`);
    }
    case "expired":
      return alert("It's too late: nobody decided in time.");
    case "not-allowed":
      return alert(
        decision === "withdraw"
          ? "Only the person who asked can take this back."
          : `You can't decide this. It's up to ${approversInWords(result.approval)}.`,
      );
    case "unknown":
      return alert("I don't know this request any more.");
  }
}

const DONE = {
  approve: "Approved.",
  reject: "Rejected.",
  change: "OK. Reply to the card with what should change.",
  withdraw: "Taken back.",
} as const satisfies Record<ApprovalDecision["kind"], string>;

const STATES = {
  waiting: "it still waits",
  approved: "approved",
  running: "approved",
  done: "approved, and it is done",
  failed: "approved",
  rejected: "rejected",
  expired: "nobody decided in time",
  withdrawn: "taken back",
  replaced: "there is a newer request, or changes are wanted",
  void: "it can no longer run",
} as const satisfies Record<Approval["state"], string>;

export function approversInWords({
  approvers,
  requester,
  requesterMayApprove,
}: Pick<Approval, "approvers" | "requester" | "requesterMayApprove">): string {
  const butNot =
    requesterMayApprove || requester === undefined || approvers.kind === "requester"
      ? ""
      : `, but not ${nameOf(requester)}`;
  switch (approvers.kind) {
    case "anyone":
      return `anyone in this chat${butNot}`;
    case "requester":
      return requester === undefined ? "the bot's team" : nameOf(requester);
    case "permissions": {
      const who = `people who have the permission ${approvers.permissions.join(", ")}`;
      return `${approvers.names === undefined ? who : `${approvers.names.join(", ")} (${who})`}${butNot}`;
    }
    case "people":
      return approvers.names === undefined
        ? `people whom this bot's team has chosen${butNot}`
        : `${approvers.names.join(", ")}${butNot}`;
    case "function":
      return `people whom this bot's team has chosen${butNot}`;
  }
}

/** `2026-11-29 12:00 UTC` */
export function timeInWords(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
