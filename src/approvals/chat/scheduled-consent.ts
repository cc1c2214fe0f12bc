import { SCHEDULE_DELETED } from "../../core/turn/scheduled-run.ts";
import type { ApprovalRequest } from "../rules/approval-request.ts";

/** The reason why nobody can be asked, for the model and for `schedules.occurrences()`. */
export interface ConsentProblem {
  readonly code: "approvers-missing" | "owner-missing" | "requester-anonymous" | typeof SCHEDULE_DELETED;
  readonly problem: string;
}

/** Somebody has deleted the schedule while its run was on the way to its question. */
export const NOT_WANTED = {
  code: SCHEDULE_DELETED,
  problem:
    "Somebody has deleted the scheduled task that asks for this. Nobody was asked. Do not call it again.",
} as const satisfies ConsentProblem;

/**
 * Returns why a run of a schedule cannot ask for consent. Undefined if somebody can decide, and for all other turns.
 *
 * A schedule that somebody has made in a chat asks that person. A declared one has no person: its action must say who may
 * decide, unless its owner is a private chat.
 */
export function problemOfRun({
  approvers,
  askedIn,
  origin,
  requester,
  requesterMayApprove,
  schedule,
}: Pick<
  ApprovalRequest,
  "approvers" | "askedIn" | "origin" | "requester" | "requesterMayApprove" | "schedule"
>): ConsentProblem | undefined {
  if (schedule === undefined) return undefined;
  if (approvers.kind === "requester" && (requester === undefined || !requesterMayApprove))
    return {
      code: "approvers-missing",
      problem:
        "Nobody may agree to this action for this scheduled task, because no person asked for it. The developer of the bot must name approvers of the action.",
    };
  if (origin === undefined && askedIn.length === 0)
    return {
      code: "owner-missing",
      problem:
        "There is no chat in which somebody could be asked. The developer of the bot must name the owner of the scheduled task.",
    };
  return undefined;
}
