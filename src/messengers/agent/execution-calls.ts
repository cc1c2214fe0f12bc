import type { ApprovalDecision } from "../../approvals/approval.ts";
import type { ExecutionDecision, PendingApproval } from "../../approvals/pending-approval.ts";
import type { DecidesApprovals } from "../root/approval-calls.ts";
import type { ApprovalIndex } from "../root/approval-index.ts";
import type { ApprovalDesk } from "./approval-desk.ts";

export interface ExecutionCallsOptions {
  readonly desk: () => Pick<ApprovalDesk, "decide" | "pending">;
  /** The approvals of all conversations, if this object is the root. */
  readonly index: () => Pick<ApprovalIndex, "waiting" | "conversationOf"> | undefined;
  /** Returns the calls to another conversation. */
  readonly callsTo: (conversation: string) => Pick<DecidesApprovals, "decideExecution">;
  /** Resolves when the object can be used. */
  readonly ready: () => Promise<void>;
  /** Resolves when changes and the wake-up are durable. */
  readonly stored: () => Promise<void>;
}

/** Approvals for the bot's own code: those of a conversation, and at the root those of all conversations. */
export class ExecutionCalls {
  readonly #options: ExecutionCallsOptions;

  constructor(options: ExecutionCallsOptions) {
    this.#options = options;
  }

  pending(executionId: string | undefined): PendingApproval[] {
    const { desk, index } = this.#options;
    const own = desk().pending(executionId);
    const indexed = index()?.waiting(executionId) ?? [];
    const known = new Set(indexed.map((one) => one.executionId));
    return [...indexed, ...own.filter((one) => !known.has(one.executionId))];
  }

  /** Resolves when the decision is durable. */
  async decide(executionId: string, decision: ApprovalDecision): Promise<ExecutionDecision> {
    const { callsTo, desk, index, ready, stored } = this.#options;
    await ready();
    const result = await desk().decide(executionId, decision);
    await stored();
    if (result.kind !== "unknown") return result;
    const conversation = index()?.conversationOf(executionId);
    // The root's own approvals have no name of a conversation.
    return conversation === undefined || conversation === ""
      ? result
      : callsTo(conversation).decideExecution(executionId, decision);
  }
}
