import type { Amount } from "../../core/amount.ts";
import type { ApprovalPreview } from "../../core/approval-preview.ts";
import type { ApprovalRisk } from "../../core/approval-risk.ts";
import type { MessengerAuthor } from "../../core/messenger-event.ts";
import type { Address } from "../../core/surface.ts";
import type { Approval, ApprovalState, ApproverRule, Decider, DecisionResult } from "./approval.ts";
import type { Grant } from "./grant.ts";
import type { GrantLength } from "./grant-length.ts";
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
export interface GrantRecord {
  readonly id: string;
  readonly action: string;
  /** The covered calls, as the action names them. */
  readonly scope: string;
  /** The covered calls in words. */
  readonly words: string;
  /** The number of calls, and their sum, that it covers in all. Undefined: any. */
  readonly calls: number | undefined;
  readonly sum: Amount | undefined;
  /** The budget that it shares with other grants of the action. Undefined: one of its own. */
  readonly budget: string | undefined;
  readonly length: GrantLength;
  /** The person for whose calls nobody is asked. For a schedule that no person made, the one who gave the grant. */
  readonly person: MessengerAuthor;
  /** The scheduled task whose runs are covered, and nothing else. Undefined: the calls of the person. */
  readonly taskId: string | undefined;
  /** The chat, or topic, in which that person asks. */
  readonly messengerId: string;
  readonly threadId: string;
  readonly givenBy: Decider;
  /** Id of the approval whose card gave it. */
  readonly approvalId: string;
  /** Epoch milliseconds, as all times here. */
  readonly givenAt: number;
  /** From this time on it covers nothing. Undefined: it holds until somebody ends it. */
  readonly until: number | undefined;
  readonly revokedAt: number | undefined;
  readonly revokedBy: Decider | undefined;
  readonly uses: number;
  readonly lastUsedAt: number | undefined;
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
export function grantRecordOf(grant: Grant): GrantRecord {
  return {
    id: grant.id,
    action: grant.action,
    scope: grant.scope,
    words: grant.words,
    calls: grant.calls,
    sum: grant.sum,
    budget: grant.budget,
    length: grant.length,
    person: grant.person,
    taskId: grant.schedule?.taskId,
    messengerId: grant.messengerId,
    threadId: grant.threadId,
    givenBy: grant.givenBy,
    approvalId: grant.approvalId,
    givenAt: grant.givenAt,
    until: grant.until,
    revokedAt: grant.revokedAt,
    revokedBy: grant.revokedBy,
    uses: grant.uses,
    lastUsedAt: grant.lastUsedAt,
  };
}
