import type { ApprovalRisk } from "../../core/approval-risk.ts";
import type { Approval, DecisionResult } from "./approval.ts";

/** A JSON value. Not typed any deeper: a stub cannot return recursive types. */
export type PlainJson = string | number | boolean | null | object;

/** An approval as the bot's own code and other systems read it. */
export interface ApprovalRecord extends Omit<Approval, "input" | "outcome"> {
  /** The input as the model wrote it. It runs if somebody approves, and never changes. */
  readonly input: PlainJson;
  /** Result of the action: its output, or `{ error }`. */
  readonly outcome: PlainJson | undefined;
  /** The conversation that asked, as in `listConversations()`. Only in the root's list. */
  readonly conversation?: string;
}

/**
 * Answer to `approveExecution` and `rejectExecution`.
 *
 * - `decided`: this decision counts
 * - `late`: somebody decided before; `approval` says what
 * - `expired`: nobody decided in time, and now it is too late
 * - `unknown`: this conversation, or at the root the bot, has no such approval
 */
export interface ExecutionDecision {
  readonly kind: Exclude<DecisionResult["kind"], "not-allowed">;
  readonly approval?: ApprovalRecord;
}

/** The facts that a dashboard shows about a waiting call. */
export interface ActionApprovalDescriptor {
  /** Id of the turn that asked. */
  readonly requestId: string;
  readonly toolCallId: string;
  /** The name that the model called. */
  readonly action: string;
  /** One line that says what will happen. */
  readonly summary: string;
  /** The input as the model wrote it, with its `sensitive` values. */
  readonly input: PlainJson;
  readonly permissions: readonly string[];
  readonly risk?: ApprovalRisk;
  readonly kind: "approval-gated" | "durable-pause";
}

/** A call that waits for a person. */
export interface PendingApproval {
  /** For `approveExecution` and `rejectExecution`. */
  readonly executionId: string;
  readonly source: "action";
  readonly descriptor: ActionApprovalDescriptor;
}

export function pendingApprovalOf(approval: Approval): PendingApproval {
  const { action, id, kind, permissions, requestId, risk, summary, toolCallId } = approval;
  const descriptor = { requestId, toolCallId, action, summary, permissions, kind };
  return {
    executionId: id,
    source: "action",
    descriptor: { ...descriptor, input: approval.input, ...(risk !== undefined && { risk }) },
  };
}
