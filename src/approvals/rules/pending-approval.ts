import { isCodeCall } from "../../core/action/code-call.ts";
import type { ApprovalRisk } from "../../core/action/approval-risk.ts";
import type { Approval } from "./approval.ts";

/** A JSON value. Not typed any deeper: a stub cannot return recursive types. */
export type PlainJson = string | number | boolean | null | object;

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
  /** For `approve` and `reject`. */
  readonly executionId: string;
  /** Whether the model has called the action, or code that the model has written. */
  readonly source: "action" | "codemode";
  readonly descriptor: ActionApprovalDescriptor;
}

export function pendingApprovalOf(approval: Approval): PendingApproval {
  const { action, id, kind, permissions, requestId, risk, summary, toolCallId } = approval;
  const descriptor = { requestId, toolCallId, action, summary, permissions, kind };
  return {
    executionId: id,
    source: isCodeCall(toolCallId) ? "codemode" : "action",
    descriptor: { ...descriptor, input: approval.input, ...(risk !== undefined && { risk }) },
  };
}
