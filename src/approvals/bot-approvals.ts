import { RpcTarget } from "cloudflare:workers";
import type { ApprovalsFeature } from "./approvals-feature.ts";
import { grantRecordOf } from "./rules/approval-record.ts";
import type { ApprovalRecord, ExecutionDecision, GrantRecord } from "./rules/approval-record.ts";
import type { PendingApproval } from "./rules/pending-approval.ts";
import type { ApprovalFilter } from "./stored/approval-store.ts";

/**
 * People's consent: that of one conversation, and at the root that of all conversations. `this.approvals`, and
 * `stub.approvals` over RPC. Nobody is asked whether the caller may decide: check that yourself.
 */
export class BotApprovals extends RpcTarget {
  readonly #feature: Pick<ApprovalsFeature, "approvals" | "executions">;

  constructor(feature: Pick<ApprovalsFeature, "approvals" | "executions">) {
    super();
    this.#feature = feature;
  }

  /**
   * Returns the calls of actions that wait for a person: all of them, or this one. The root returns those of all
   * conversations, at most 1000, with masked `sensitive` values and with their conversation.
   */
  pending(executionId?: string): PendingApproval[] {
    return this.#feature.executions.pending(executionId);
  }

  /**
   * Returns what was asked, newest first, also what has ended, with the person, decision, time and place, and calls that
   * a grant covered. The root returns the approvals of all conversations, with their conversation.
   *
   * @example await stub.approvals.list({ state: "rejected", since: Date.now() - 86_400_000 });
   */
  list(filter: ApprovalFilter = {}): Promise<ApprovalRecord[]> {
    return this.#feature.executions.list(filter);
  }

  /**
   * Approves a waiting call: the action runs once, and its outcome begins a turn of its own. Resolves when that is
   * durable. A second decision changes nothing. The root decides about calls of all conversations.
   */
  approve(executionId: string): Promise<ExecutionDecision> {
    return this.#feature.executions.decideExecution(executionId, { kind: "approve" });
  }

  /**
   * Refuses a waiting call. The model is told, with the reason, in a turn of its own; with `autoContinue: false` it is
   * not, and only the card says it. A second decision changes nothing. The root decides about calls of all
   * conversations.
   */
  reject(
    executionId: string,
    reason?: string,
    { autoContinue }: { readonly autoContinue?: boolean } = {},
  ): Promise<ExecutionDecision> {
    return this.#feature.executions.decideExecution(executionId, { kind: "reject", reason, autoContinue });
  }

  /**
   * Returns what people have agreed to in advance in this conversation, newest first, also ended grants.
   *
   * @param limit at most 1000. @default 100
   */
  grants(limit = 100): GrantRecord[] {
    return this.#feature.approvals.grants.list(Math.min(limit, 1_000)).map(grantRecordOf);
  }

  /** Ends a grant: from now on people are asked again. Returns `false` if it is over already, or does not exist. */
  revokeGrant(grantId: string): boolean {
    return this.#feature.approvals.grants.revoke(grantId, { surface: "api" });
  }
}
