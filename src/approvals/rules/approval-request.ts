import { isSameSchedule } from "../../core/turn/schedule-binding.ts";
import type { Approval } from "./approval.ts";

/** A call that needs consent, in its stored form. */
export type ApprovalRequest = Omit<
  Approval,
  | "id"
  | "createdAt"
  | "state"
  | "decidedAt"
  | "decidedBy"
  | "isInline"
  | "reason"
  | "isExplained"
  | "successor"
  | "outcome"
  | "endedAt"
  | "drawnState"
  | "isTold"
  | "cardOf"
  | "isCardTaken"
  | "isGivenBack"
  | "agreed"
  | "escalatedAt"
  | "handedTo"
  | "edited"
  | "edit"
  | "edits"
  | "broughtTo"
  | "together"
>;

/** Whether a question belongs to another run of the same schedule. */
export function isOfOtherRun({ rootRequest, schedule }: Approval, asked: ApprovalRequest): boolean {
  const isSame = asked.schedule !== undefined && isSameSchedule(asked.schedule, schedule);
  return isSame && rootRequest !== asked.rootRequest;
}

/** Returns the question for a call, as nobody has decided about it yet. */
export function questionOf(
  asked: ApprovalRequest,
  { cardOf, id, now }: { readonly id: string; readonly now: number; readonly cardOf?: string | undefined },
): Approval {
  return {
    ...asked,
    id,
    cardOf,
    isCardTaken: false,
    createdAt: now,
    state: "waiting",
    decidedAt: undefined,
    decidedBy: undefined,
    isInline: false,
    reason: undefined,
    isExplained: false,
    successor: undefined,
    outcome: undefined,
    endedAt: undefined,
    drawnState: undefined,
    isTold: false,
  };
}
