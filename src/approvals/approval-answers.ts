import type { PressAnswer } from "../core/card-press.ts";
import type { ApprovalOverview } from "./chat/approval-overview.ts";
import type { OutsideDecisions } from "./chat/outside-decisions.ts";
import type { GrantOverview } from "./chat/grant-overview.ts";
import type {
  ApprovalCalls,
  ApprovalHint,
  ApprovalViewer,
  GrantPlace,
  OutsideDecision,
  OutsideResult,
  SeenApproval,
  SeenGrant,
} from "./root/approval-calls.ts";
import type { ApprovalIndex } from "./root/approval-index.ts";
import type { AllowanceClaim } from "./rules/allowance.ts";
import type { ApprovalDecision } from "./rules/approval.ts";
import type {
  ApprovalReport,
  IndexedApproval,
  PendingApprovalFilter,
  PendingApprovalPage,
} from "./rules/approval-index.ts";
import type { ApprovalRecord, ExecutionDecision } from "./rules/approval-record.ts";

export interface ApprovalAnswersOptions {
  readonly executions: OutsideDecisions;
  readonly grants: GrantOverview;
  readonly index: ApprovalIndex;
  readonly overview: ApprovalOverview;
}

/** The calls of other objects that the approvals of an object answer: as a conversation, and as the root. */
export class ApprovalAnswers implements ApprovalCalls {
  readonly #parts: ApprovalAnswersOptions;

  constructor(parts: ApprovalAnswersOptions) {
    this.#parts = parts;
  }

  noteApproval(report: ApprovalReport): Promise<void> {
    return this.#parts.index.noteApproval(report);
  }

  claimAllowance(claim: AllowanceClaim): Promise<boolean> {
    return this.#parts.index.claimAllowance(claim);
  }

  approvalHints(viewer: ApprovalViewer): Promise<readonly ApprovalHint[]> {
    return this.#parts.index.approvalHints(viewer);
  }

  waitingApprovals(filter: PendingApprovalFilter): Promise<PendingApprovalPage> {
    return this.#parts.index.waitingApprovals(filter);
  }

  grantPlaces(viewer: ApprovalViewer): Promise<readonly GrantPlace[]> {
    return this.#parts.index.grantPlaces(viewer);
  }

  findApproval(id: string): Promise<IndexedApproval | undefined> {
    return this.#parts.index.findApproval(id);
  }

  decideAnywhere(id: string, decided: OutsideDecision): Promise<OutsideResult> {
    return this.#parts.index.decideAnywhere(id, decided);
  }

  decideExecution(id: string, decision: ApprovalDecision): Promise<ExecutionDecision> {
    return this.#parts.executions.decide(id, decision);
  }

  decideApproval(id: string, decided: OutsideDecision): Promise<OutsideResult> {
    return this.#parts.executions.decideFor(id, decided);
  }

  async readApprovals(ids: readonly string[]): Promise<readonly ApprovalRecord[]> {
    return this.#parts.executions.read(ids);
  }

  lookAtApprovals(ids: readonly string[], viewer: ApprovalViewer): Promise<readonly SeenApproval[]> {
    return this.#parts.overview.look(ids, viewer);
  }

  bringApproval(id: string, viewer: ApprovalViewer): Promise<boolean> {
    return this.#parts.overview.bring(id, viewer);
  }

  async lookAtGrants(viewer: ApprovalViewer, chat: string | undefined): Promise<readonly SeenGrant[]> {
    return this.#parts.grants.look(viewer, chat);
  }

  async endGrant(id: string, viewer: ApprovalViewer): Promise<PressAnswer> {
    return this.#parts.grants.end(id, viewer);
  }
}
