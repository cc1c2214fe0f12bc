import type { ApprovalDecision } from "../rules/approval.ts";
import type { Approvals } from "../consent/approvals.ts";
import { pendingApprovalOf } from "../rules/pending-approval.ts";
import type { ApprovalRecord, ExecutionDecision, PendingApproval } from "../rules/pending-approval.ts";
import type { OutsideDecision, OutsideResult } from "../root/approval-calls.ts";
import { approversInWords } from "./approval-texts.ts";

/** Reads and decides approvals for the bot's own code and for other systems. */
export class OutsideDecisions {
  readonly #approvals: Pick<Approvals, "decide" | "get" | "waiting">;

  constructor(approvals: Pick<Approvals, "decide" | "get" | "waiting">) {
    this.#approvals = approvals;
  }

  /** The calls that wait for a person. */
  pending(executionId: string | undefined): PendingApproval[] {
    return this.#approvals
      .waiting()
      .filter(({ id }) => executionId === undefined || id === executionId)
      .map(pendingApprovalOf);
  }

  /** Returns those of these approvals that are still kept. */
  read(ids: readonly string[]): ApprovalRecord[] {
    return ids.map((id) => this.#approvals.get(id)).filter((one) => one !== undefined);
  }

  /** Decides for the bot's own code, which has checked the caller. */
  async decide(id: string, decision: ApprovalDecision): Promise<ExecutionDecision> {
    const result = await this.#approvals.decide(id, decision, { surface: "api" });
    if (result.kind === "unknown") return { kind: "unknown" };
    const { approval, kind } = result;
    return { kind: kind === "not-allowed" ? "unknown" : kind, approval };
  }

  /** Decides for another system. The same decision of the same actor again is no error. */
  async decideFor(id: string, { inputHash, ...asked }: OutsideDecision): Promise<OutsideResult> {
    const { actor, decision, isAdmin, person } = asked;
    const known = this.#approvals.get(id);
    if (known !== undefined && inputHash !== undefined && inputHash !== known.inputHash)
      return { kind: "other-input" };
    const result = await this.#approvals.decide(id, decision, {
      surface: "http",
      name: actor,
      ...(isAdmin === true
        ? { isAdmin }
        : { person: { userId: person?.userId ?? actor, fullName: actor }, messengerId: person?.messengerId }),
    });
    if (result.kind === "unknown") return { kind: "unknown" };
    const { approval, kind } = result;
    if (kind === "not-allowed") return { kind, approvers: approversInWords(approval) };
    const isSame =
      approval.decidedBy?.name === actor && (approval.state === "rejected") === (decision.kind === "reject");
    return { kind: kind === "late" && isSame ? "decided" : kind };
  }
}
