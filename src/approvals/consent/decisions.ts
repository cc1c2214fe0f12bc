import type { MessengerAuthor } from "../../core/messenger-event.ts";
import { isRequester, mayExplain } from "../rules/approval.ts";
import type {
  Approval,
  ApprovalDecision,
  ApprovalState,
  Decider,
  DecisionResult,
} from "../rules/approval.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import type { ApprovalWork } from "./approval-work.ts";
import type { Deciders } from "./deciders.ts";
import type { Grants } from "./grants.ts";
import type { StoredApprovals } from "../stored/stored-approvals.ts";

export interface DecisionsOptions {
  readonly host: Pick<ApprovalHost, "clock" | "database">;
  readonly stored: StoredApprovals;
  readonly grants: Grants;
  readonly deciders: Deciders;
  readonly work: ApprovalWork;
}

/** Decisions of people and of systems. Each is compared with the stored state and stored in one step. */
export class Decisions {
  readonly #host: DecisionsOptions["host"];
  readonly #stored: StoredApprovals;
  readonly #grants: Grants;
  readonly #deciders: Deciders;
  readonly #work: ApprovalWork;

  constructor({ deciders, grants, host, stored, work }: DecisionsOptions) {
    this.#host = host;
    this.#stored = stored;
    this.#grants = grants;
    this.#deciders = deciders;
    this.#work = work;
  }

  /** Decides about a waiting question. Only the first decision counts. */
  async decide(id: string, decision: ApprovalDecision, by: Decider): Promise<DecisionResult> {
    const asked = this.#stored.store.get(id);
    if (asked === undefined) return { kind: "unknown" };
    if (asked.state === "waiting" && !(await this.#isAllowed(asked, decision, by)))
      return { kind: "not-allowed", approval: asked };
    // The permission check took time, so the state is read again.
    const approval = this.#stored.store.get(id);
    if (approval === undefined) return { kind: "unknown" };
    if (approval.state !== "waiting") {
      return { kind: approval.state === "expired" ? "expired" : "late", approval };
    }
    if (this.#host.clock.now() >= approval.expiresAt) {
      const expired = this.#stored.change(approval, { state: "expired" });
      this.#work.go();
      return { kind: "expired", approval: expired };
    }
    const length = decision.kind === "approve" ? decision.grant : undefined;
    if (length !== undefined) this.#grants.prepare();
    const decided = this.#host.database.transaction(() => {
      const grant = length === undefined ? undefined : this.#grants.give(approval, length, by);
      return this.#stored.change(approval, {
        state: DECIDED[decision.kind],
        decidedAt: this.#host.clock.now(),
        decidedBy: grant === undefined ? by : { ...by, grantId: grant.id, granted: grant.length },
        isTold: decision.kind === "reject" && decision.autoContinue === false,
        reason:
          decision.kind === "reject"
            ? decision.reason
            : decision.kind === "change"
              ? decision.wish
              : undefined,
      });
    });
    this.#work.go();
    return { kind: "decided", approval: decided };
  }

  /**
   * Adds the words of the person who decided, once, and tells the conversation. Returns `false` if somebody else decided,
   * or the reason is known.
   */
  explain(id: string, person: MessengerAuthor, words: string): boolean {
    const approval = this.#stored.store.get(id);
    if (approval === undefined || !mayExplain(approval, person)) return false;
    this.#stored.change(approval, { reason: words, isExplained: true, isTold: false, drawnState: undefined });
    this.#work.go();
    return true;
  }

  /** The method that takes a system's decision has checked it. */
  async #isAllowed(approval: Approval, decision: ApprovalDecision, by: Decider): Promise<boolean> {
    if (decision.kind === "withdraw") {
      return isRequester(approval, by);
    }
    return this.#deciders.mayDecide(approval, by);
  }
}

const DECIDED = {
  approve: "approved",
  reject: "rejected",
  change: "replaced",
  withdraw: "withdrawn",
} as const satisfies Record<ApprovalDecision["kind"], ApprovalState>;
