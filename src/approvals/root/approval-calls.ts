import type { AllowanceClaim } from "../rules/allowance.ts";
import type { ApprovalDecision } from "../rules/approval.ts";
import type {
  ApprovalReport,
  IndexedApproval,
  PendingApprovalFilter,
  PendingApprovalPage,
} from "../rules/approval-index.ts";
import type { ApprovalRecord, ExecutionDecision } from "../rules/approval-record.ts";
import type { PressAnswer } from "../../core/chat/card-press.ts";
import type { CallGroup } from "../../core/chat/inner-calls.ts";
import type { MessengerAuthor, MessengerThread } from "../../core/chat/messenger-event.ts";

/** A decision of another system. */
export interface OutsideDecision {
  readonly decision: Extract<ApprovalDecision, { kind: "approve" | "reject" }>;
  /** Name of the person or system that decides. If nothing else is given, it must be an id of the approvers. */
  readonly actor: string;
  /** The person of a messenger for whom the system decides. Checked as if that person had pressed. */
  readonly person?: { readonly messengerId: string; readonly userId: string } | undefined;
  /** Decides as an administrator, whoever the approvers are. @default false */
  readonly isAdmin?: boolean | undefined;
  /** The decision counts only for this input. @default any */
  readonly inputHash?: string | undefined;
}

/** The calls about approvals of all conversations, which a root answers. */
export interface ApprovalIndexCalls {
  /** From a conversation: an approval has a new state. */
  noteApproval(report: ApprovalReport): Promise<void>;
  /** Claims a call of a limited grant, before it runs. Returns `false` if not enough is left. */
  claimAllowance(claim: AllowanceClaim): Promise<boolean>;
  /** Returns requests that may concern a person, the oldest first, at most 100. Their conversations know if they do. */
  approvalHints(viewer: ApprovalViewer): Promise<readonly ApprovalHint[]>;
  /** Returns a page of what waits. */
  waitingApprovals(filter: PendingApprovalFilter): Promise<PendingApprovalPage>;
  /** Returns the conversations with grants that a person gave or that count for the person, at most 50. */
  grantPlaces(viewer: ApprovalViewer): Promise<readonly GrantPlace[]>;
  findApproval(id: string): Promise<IndexedApproval | undefined>;
  /** Decides in the conversation that asked. */
  decideAnywhere(id: string, decided: OutsideDecision): Promise<OutsideResult>;
}

/**
 * `other-input`: the approval waits for another input. `not-allowed`: it is up to `approvers`, in words. `agreed`: the
 * decision counts, and more people must approve.
 */
export type OutsideResult =
  | Pick<ExecutionDecision, "kind">
  | { readonly kind: "other-input" }
  | { readonly kind: "agreed"; readonly agreed: number; readonly quorum: number }
  | { readonly kind: "not-allowed"; readonly approvers: string };

/** A person who looks at requests, and the chat in which that person looks. Everybody in that chat may see the answer. */
export interface ApprovalViewer {
  readonly person: MessengerAuthor | undefined;
  readonly messengerId: string;
  readonly thread: MessengerThread;
}

/** A request that may concern a person. */
export interface ApprovalHint {
  readonly id: string;
  readonly conversation: string;
  /** Title of the chat in which it was asked, if the root knows it. */
  readonly chatTitle?: string;
}

/** A waiting request, as one person sees it in one chat. `sensitive` values are masked. */
export interface SeenApproval {
  readonly id: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Whether this person may decide. */
  readonly isMine: boolean;
  /** Whether this person asked. */
  readonly isAsked: boolean;
  readonly summary: string;
  readonly requester?: string;
  /** The people who may decide, in words. */
  readonly approvers: string;
  /** Whether it has a card in the chat in which the person looks. */
  readonly isHere: boolean;
  /** Id of the message with that card. */
  readonly messageId?: string;
}

/** A grant in force, as one person sees it in one chat. */
export interface SeenGrant {
  readonly id: string;
  /** The covered calls, and how long it holds, in words. */
  readonly line: string;
  readonly givenAt: number;
}

/** A conversation that may have grants of a person. */
export interface GrantPlace {
  readonly conversation: string;
  readonly title?: string;
}

/** Calls to the conversation that asked. */
export interface DecidesApprovals {
  /** Decides for the bot's own code, which has checked the caller. */
  decideExecution(id: string, decision: ApprovalDecision): Promise<ExecutionDecision>;
  decideApproval(id: string, decided: OutsideDecision): Promise<OutsideResult>;
  /** Returns those of these approvals that the conversation still keeps. */
  readApprovals(ids: readonly string[]): Promise<readonly ApprovalRecord[]>;
  /** Returns those of these requests that wait and that this person may see in this chat. */
  lookAtApprovals(ids: readonly string[], viewer: ApprovalViewer): Promise<readonly SeenApproval[]>;
  /** Posts a card of a request in the chat of a person who may decide. Returns whether that chat has one then. */
  bringApproval(id: string, viewer: ApprovalViewer): Promise<boolean>;
  /**
   * Returns the grants that a person gave or that count for the person.
   *
   * @param chat the chat of the grants in words, if the person looks from another one
   */
  lookAtGrants(viewer: ApprovalViewer, chat: string | undefined): Promise<readonly SeenGrant[]>;
  /** Ends a grant for such a person. Returns the private word to the person. */
  endGrant(id: string, viewer: ApprovalViewer): Promise<PressAnswer>;
}

/** All calls about approvals between objects. */
export interface ApprovalCalls extends ApprovalIndexCalls, DecidesApprovals {}

export const APPROVALS: CallGroup<ApprovalCalls> = { name: "approvals" };
