import type { Address } from "../../core/chat/surface.ts";
import type { Approval, ApprovalState } from "./approval.ts";
import { maskedInput, masked } from "./input-fields.ts";
import { pendingApprovalOf } from "./pending-approval.ts";
import type { PendingApproval } from "./pending-approval.ts";

/** A call that waits or has waited for a person, as the root and dashboards know it. Its `sensitive` values are masked. */
export interface IndexedApproval extends PendingApproval {
  /** The conversation that asked, as in `listConversations()`. */
  readonly conversation: string;
  readonly state: ApprovalState;
  /** Send it with a decision, so that the decision counts only for this input. */
  readonly inputHash: string;
  readonly requestedBy?: { readonly userId: string; readonly fullName?: string };
  /** The chat in which it was asked. */
  readonly chat?: Pick<Address, "messengerId" | "chatId">;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly endedAt?: number;
  /** The person or system that decided. */
  readonly decidedBy?: string;
  /** User id of the person who decided. */
  readonly decidedByUserId?: string;
  /** Whether it was decided with the administrator's token, whoever the approvers are. */
  readonly isDecidedByAdmin?: true;
}

/** The new state of an approval, from its conversation to the root. */
export interface ApprovalReport {
  readonly approval: IndexedApproval;
  /** The keys under which the root finds it. See `indexKeysOf`. */
  readonly keys: readonly string[];
  /** The keys of the grant that was given with it. See `grantKeysOf`. @default none */
  readonly grantKeys?: readonly string[];
  /** Whether what the call has claimed of a limited grant is given back. */
  readonly isGivenBack?: boolean | undefined;
}

export interface PendingApprovalFilter {
  /** The `cursor` of the page before. */
  readonly cursor?: string;
  /** At most 1000. @default 100 */
  readonly limit?: number;
}

export interface PendingApprovalPage {
  /** The oldest first. */
  readonly approvals: readonly IndexedApproval[];
  /** Undefined on the last page. */
  readonly cursor?: string;
}

export function indexedApprovalOf(approval: Approval, conversation: string): IndexedApproval {
  const { createdAt, decidedBy, endedAt, expiresAt, input, inputHash, origin, requester, sensitive, state } =
    approval;
  const pending = pendingApprovalOf(approval);
  const decider = decidedBy?.name ?? decidedBy?.person?.fullName ?? decidedBy?.person?.userId;
  return {
    ...pending,
    descriptor: {
      ...pending.descriptor,
      input: maskedInput(input, sensitive),
      summary: masked(pending.descriptor.summary, input, sensitive),
    },
    conversation,
    state,
    inputHash,
    createdAt,
    expiresAt,
    ...(requester !== undefined && {
      requestedBy: {
        userId: requester.userId,
        ...(requester.fullName !== undefined && { fullName: requester.fullName }),
      },
    }),
    ...(origin !== undefined && { chat: { messengerId: origin.messengerId, chatId: origin.chatId } }),
    ...(endedAt !== undefined && { endedAt }),
    ...(decider !== undefined && { decidedBy: decider }),
    ...(decidedBy?.person !== undefined && { decidedByUserId: decidedBy.person.userId }),
    ...(decidedBy?.isAdmin === true && { isDecidedByAdmin: true as const }),
  };
}
