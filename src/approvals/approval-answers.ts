import type { PressAnswer } from "../core/card-press.ts";
import type { ApprovalDesk } from "./chat/approval-desk.ts";
import type { ExecutionCalls } from "./chat/execution-calls.ts";
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
import type { ApprovalDecision } from "./rules/approval.ts";
import type {
  ApprovalReport,
  IndexedApproval,
  PendingApprovalFilter,
  PendingApprovalPage,
} from "./rules/approval-index.ts";
import type { ApprovalRecord, ExecutionDecision } from "./rules/pending-approval.ts";

/** The calls of other objects that the approvals of an object answer: as a conversation, and as the root. */
export class ApprovalAnswers implements ApprovalCalls {
  readonly #feature: {
    readonly desk: ApprovalDesk;
    readonly executions: ExecutionCalls;
    readonly index: ApprovalIndex;
  };

  constructor(feature: {
    readonly desk: ApprovalDesk;
    readonly executions: ExecutionCalls;
    readonly index: ApprovalIndex;
  }) {
    this.#feature = feature;
  }

  noteApproval(report: ApprovalReport): Promise<void> {
    return this.#feature.index.noteApproval(report);
  }

  approvalHints(viewer: ApprovalViewer): Promise<readonly ApprovalHint[]> {
    return this.#feature.index.approvalHints(viewer);
  }

  waitingApprovals(filter: PendingApprovalFilter): Promise<PendingApprovalPage> {
    return this.#feature.index.waitingApprovals(filter);
  }

  grantPlaces(viewer: ApprovalViewer): Promise<readonly GrantPlace[]> {
    return this.#feature.index.grantPlaces(viewer);
  }

  findApproval(id: string): Promise<IndexedApproval | undefined> {
    return this.#feature.index.findApproval(id);
  }

  decideAnywhere(id: string, decided: OutsideDecision): Promise<OutsideResult> {
    return this.#feature.index.decideAnywhere(id, decided);
  }

  decideExecution(id: string, decision: ApprovalDecision): Promise<ExecutionDecision> {
    return this.#feature.executions.decide(id, decision);
  }

  decideApproval(id: string, decided: OutsideDecision): Promise<OutsideResult> {
    return this.#feature.desk.outside.decideFor(id, decided);
  }

  async readApprovals(ids: readonly string[]): Promise<readonly ApprovalRecord[]> {
    return this.#feature.desk.outside.read(ids);
  }

  lookAtApprovals(ids: readonly string[], viewer: ApprovalViewer): Promise<readonly SeenApproval[]> {
    return this.#feature.desk.lookAt(ids, viewer);
  }

  bringApproval(id: string, viewer: ApprovalViewer): Promise<boolean> {
    return this.#feature.desk.bring(id, viewer);
  }

  async lookAtGrants(viewer: ApprovalViewer, chat: string | undefined): Promise<readonly SeenGrant[]> {
    return this.#feature.desk.grants.look(viewer, chat);
  }

  async endGrant(id: string, viewer: ApprovalViewer): Promise<PressAnswer> {
    return this.#feature.desk.grants.end(id, viewer);
  }
}
