import type { Approvals } from "../consent/approvals.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";
import type { ApprovalCards } from "./approval-cards.ts";
import type { Approvers } from "./approvers.ts";

/** The approvals of a conversation, with their cards and the people who may decide. */
export interface ApprovalParts {
  readonly host: ApprovalsHost;
  readonly approvals: Approvals;
  readonly approvers: Approvers;
  readonly cards: ApprovalCards;
}
