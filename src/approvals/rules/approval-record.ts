import type { ApprovalPreview } from "../../core/action/approval-preview.ts";
import type { ApprovalRisk } from "../../core/action/approval-risk.ts";
import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import type { Address } from "../../core/chat/surface.ts";
import type { Approval, ApprovalState, ApproverRule, Decider, DecisionResult } from "./approval.ts";
import type { Grant } from "./grant.ts";
import type { PlainJson } from "./pending-approval.ts";

/** One question to people, or one use of a grant: what was asked, who decided, and what came of it. */
export interface ApprovalRecord {
  /** The execution id of `approve` and `reject`. */
  readonly id: string;
  /** The conversation that asked, as in `listConversations()`. Only in the root's list. */
  readonly conversation: string | undefined;
  /** The name that the model called. */
  readonly action: string;
  /** Whether a tool of `getTools()` asked, not an action. */
  readonly isTool: boolean;
  readonly kind: "approval-gated" | "durable-pause";
  /** Id of the turn that asked. */
  readonly requestId: string;
  readonly toolCallId: string;
  /** The input as the model wrote it, or as an approver changed it. It runs if somebody approves, and never changes. */
  readonly input: PlainJson;
  readonly inputHash: string;
  /** The people who have changed the input, and the input of the model. Undefined if nobody has. */
  readonly edited: { readonly by: readonly Decider[]; readonly original: PlainJson } | undefined;
  /** Paths of the input whose values nobody may see, such as `card.number`. */
  readonly sensitive: readonly string[];
  /** One line that says what will happen. */
  readonly summary: string;
  /** The words with which the model asked. They may be wrong. Undefined if it wrote none. */
  readonly modelWords: string | undefined;
  /** The difference against the day of the question, as the action said. Undefined if it says none. */
  readonly preview: ApprovalPreview | undefined;
  readonly risk: ApprovalRisk | undefined;
  readonly permissions: readonly string[];
  /** The person who asked. Undefined if no person began the turn. */
  readonly requester: MessengerAuthor | undefined;
  /** The chat in which the turn ran. Undefined outside a messenger. */
  readonly origin: Address | undefined;
  /** The other chats in which people were asked. Empty: in `origin`. */
  readonly askedIn: readonly Address[];
  /** The scheduled task whose run asked. Undefined for all other turns. */
  readonly taskId: string | undefined;
  /** The channel that the bot's own code gave to the turn. */
  readonly channel: string | undefined;
  readonly approvers: ApproverRule;
  readonly requesterMayApprove: boolean;
  /** The number of different people who must approve. */
  readonly quorum: number;
  /** Those who have approved, if several must. */
  readonly agreed: readonly Decider[];
  readonly state: ApprovalState;
  /** Epoch milliseconds, as all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly decidedAt: number | undefined;
  readonly decidedBy: Decider | undefined;
  /** Words of the person who rejected or asked for changes, or a code. */
  readonly reason: string | undefined;
  /** Result of the action: its output, or `{ error }`. */
  readonly outcome: PlainJson | undefined;
  readonly endedAt: number | undefined;
  /** Id of the newer question, after somebody asked for changes. */
  readonly successor: string | undefined;
}

/**
 * Answer to `approve` and `reject`.
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

/** Consent to later calls, as the card that gave it showed it. */
export interface GrantRecord extends Omit<Grant, "rootRequest" | "schedule"> {
  /** The scheduled task whose runs are covered, and nothing else. Undefined: the calls of the person. */
  readonly taskId: string | undefined;
}

/** Returns an approval as the bot's own code sees it in its conversation. */
export function approvalRecordOf(approval: Approval): ApprovalRecord {
  return {
    id: approval.id,
    conversation: undefined,
    action: approval.action,
    isTool: approval.isTool,
    kind: approval.kind,
    requestId: approval.requestId,
    toolCallId: approval.toolCallId,
    input: approval.input,
    inputHash: approval.inputHash,
    edited: approval.edited,
    sensitive: approval.sensitive,
    summary: approval.summary,
    modelWords: approval.modelWords,
    preview: approval.preview,
    risk: approval.risk,
    permissions: approval.permissions,
    requester: approval.requester,
    origin: approval.origin,
    askedIn: approval.askedIn.map(({ address }) => address),
    taskId: approval.schedule?.taskId,
    channel: approval.channel,
    approvers: approval.approvers,
    requesterMayApprove: approval.requesterMayApprove,
    quorum: approval.quorum ?? 1,
    agreed: approval.agreed ?? [],
    state: approval.state,
    createdAt: approval.createdAt,
    expiresAt: approval.expiresAt,
    decidedAt: approval.decidedAt,
    decidedBy: approval.decidedBy,
    reason: approval.reason,
    outcome: approval.outcome,
    endedAt: approval.endedAt,
    successor: approval.successor,
  };
}

/** Returns a grant as the bot's own code sees it. */
export function grantRecordOf({ rootRequest: _internal, schedule, ...grant }: Grant): GrantRecord {
  return { ...grant, taskId: schedule?.taskId };
}
