import { APPROVALS, type OutsideDecision, type OutsideResult } from "../root/approval-calls.ts";
import type { ApprovalIndex } from "../root/approval-index.ts";
import type { Approvals } from "../consent/approvals.ts";
import type { ApprovalDecision } from "../rules/approval.ts";
import type { IndexedApproval } from "../rules/approval-index.ts";
import { approvalRecordOf, type ApprovalRecord, type ExecutionDecision } from "../rules/approval-record.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";
import { pendingApprovalOf, type PendingApproval } from "../rules/pending-approval.ts";
import { decidersOf } from "../rules/quorum.ts";
import type { ApprovalFilter } from "../stored/approval-store.ts";
import { approversInWords } from "./approval-texts.ts";

export interface OutsideDecisionsOptions {
  readonly host: Pick<ApprovalsHost, "objects" | "ready" | "durable">;
  readonly approvals: Approvals;
  /** The approvals of all conversations. Only the root has them. */
  readonly index: ApprovalIndex;
}

/**
 * Approvals for the bot's own code and for other systems: those of a conversation, and at the root those of all
 * conversations.
 */
export class OutsideDecisions {
  readonly #options: OutsideDecisionsOptions;

  constructor(options: OutsideDecisionsOptions) {
    this.#options = options;
  }

  /** The calls that wait for a person: all of them, or this one. */
  pending(executionId: string | undefined): PendingApproval[] {
    const { approvals, host, index } = this.#options;
    const own = approvals
      .waiting()
      .filter(({ id }) => executionId === undefined || id === executionId)
      .map(pendingApprovalOf);
    const indexed = host.objects.isRoot() ? index.waiting(executionId) : [];
    const known = new Set(indexed.map((one) => one.executionId));
    return [...indexed, ...own.filter((one) => !known.has(one.executionId))];
  }

  /** Returns what was asked, newest first. At the root each conversation of the page is asked for its own. */
  async list(filter: ApprovalFilter): Promise<ApprovalRecord[]> {
    const { approvals, host, index } = this.#options;
    await host.ready();
    if (!host.objects.isRoot()) return approvals.list(filter).map(approvalRecordOf);
    let page = index.list(filter);
    let found = await this.#recordsOf(page, filter);
    // A conversation may have deleted what the index still names. An empty page means that there is no more.
    for (let last = page.at(-1); found.length === 0 && last !== undefined; last = page.at(-1)) {
      page = index.list({ ...filter, before: last.executionId });
      found = await this.#recordsOf(page, filter);
    }
    return found;
  }

  async #recordsOf(
    page: readonly IndexedApproval[],
    { state }: Pick<ApprovalFilter, "state">,
  ): Promise<ApprovalRecord[]> {
    const { host } = this.#options;
    const asked = Map.groupBy(page, ({ conversation }) => conversation);
    const read = await Promise.all(
      [...asked].map(async ([conversation, those]) => {
        const ids = those.map(({ executionId }) => executionId);
        // The root's own approvals have no name of a conversation.
        const owner = conversation === "" ? this : host.objects.to(APPROVALS, conversation);
        const kept = await owner.readApprovals(ids);
        return kept.map((one) => ({ ...one, conversation }));
      }),
    );
    const records = new Map(read.flat().map((one) => [one.id, one]));
    // The index hears of a new state a moment later.
    return page
      .map(({ executionId }) => records.get(executionId))
      .filter((one) => one !== undefined)
      .filter((one) => state === undefined || one.state === state);
  }

  /** Returns those of these approvals of this conversation that are still kept. */
  async readApprovals(ids: readonly string[]): Promise<ApprovalRecord[]> {
    return ids
      .map((id) => this.#options.approvals.get(id))
      .filter((one) => one !== undefined)
      .map(approvalRecordOf);
  }

  /** Decides for the bot's own code, which has checked the caller. Resolves when the decision is durable. */
  async decideExecution(executionId: string, decision: ApprovalDecision): Promise<ExecutionDecision> {
    const { approvals, host, index } = this.#options;
    await host.ready();
    const result = await approvals.decisions.decide(executionId, decision, { surface: "api" });
    await host.durable();
    if (result.kind !== "unknown" && result.kind !== "not-allowed")
      return { kind: result.kind, approval: approvalRecordOf(result.approval) };
    const conversation = host.objects.isRoot() ? index.conversationOf(executionId) : undefined;
    // The root's own approvals have no name of a conversation.
    return conversation === undefined || conversation === ""
      ? { kind: "unknown" }
      : host.objects.to(APPROVALS, conversation).decideExecution(executionId, decision);
  }

  /** Decides for another system. The same decision of the same actor again is no error. */
  async decideApproval(id: string, { inputHash, ...asked }: OutsideDecision): Promise<OutsideResult> {
    const { approvals } = this.#options;
    const { actor, decision, isAdmin, person } = asked;
    const known = approvals.get(id);
    if (known !== undefined && inputHash !== undefined && inputHash !== known.inputHash)
      return { kind: "other-input" };
    const result = await approvals.decisions.decide(id, decision, {
      surface: "http",
      name: actor,
      ...(isAdmin === true
        ? { isAdmin }
        : { person: { userId: person?.userId ?? actor, fullName: actor }, messengerId: person?.messengerId }),
    });
    if (result.kind === "unknown") return { kind: "unknown" };
    const { approval, kind } = result;
    if (kind === "not-allowed") return { kind, approvers: approversInWords(approval) };
    const { agreed = [], quorum = 1 } = approval;
    if (kind === "decided" && approval.state === "waiting")
      return { kind: "agreed", agreed: agreed.length, quorum };
    const isSame =
      decidersOf(approval).some(({ name }) => name === actor) &&
      (approval.state === "rejected") === (decision.kind === "reject");
    return { kind: kind === "late" && isSame ? "decided" : kind };
  }
}
