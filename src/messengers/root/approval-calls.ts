import type { ApprovalDecision } from "../../approvals/approval.ts";
import type {
  IndexedApproval,
  PendingApprovalFilter,
  PendingApprovalPage,
} from "../../approvals/approval-index.ts";
import type { ExecutionDecision } from "../../approvals/pending-approval.ts";

/** A decision of another system, with the name of the person or system that decides. */
export interface OutsideDecision {
  readonly decision: Extract<ApprovalDecision, { kind: "approve" | "reject" }>;
  readonly actor: string;
  /** The decision counts only for this input. @default any */
  readonly inputHash?: string | undefined;
}

/** The calls about approvals of all conversations, which a root answers. */
export interface ApprovalIndexCalls {
  /** From a conversation: an approval has a new state. */
  noteApproval(approval: IndexedApproval): Promise<void>;
  /** Returns a page of what waits. */
  waitingApprovals(filter: PendingApprovalFilter): Promise<PendingApprovalPage>;
  findApproval(id: string): Promise<IndexedApproval | undefined>;
  /** Decides in the conversation that asked. */
  decideAnywhere(id: string, decided: OutsideDecision): Promise<OutsideResult>;
}

/** `other-input`: the approval waits for another input. */
export type OutsideResult = Pick<ExecutionDecision, "kind"> | { readonly kind: "other-input" };

/** The call of a root to the conversation that asked. */
export interface DecidesApprovals {
  decideApproval(id: string, decided: OutsideDecision): Promise<OutsideResult>;
}
