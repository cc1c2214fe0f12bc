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
import type { Grants } from "./grants.ts";
import type { StoredApprovals } from "../stored/stored-approvals.ts";

export interface DecisionsOptions {
  readonly host: Pick<ApprovalHost, "clock" | "database" | "mayDecide">;
  readonly stored: StoredApprovals;
  readonly grants: Grants;
  /** Acts on what was decided. */
  readonly go: () => void;
}

/** Decisions of people, of systems and of grants. Each is compared with the stored state and stored in one step. */
export class Decisions {
  readonly #host: DecisionsOptions["host"];
  readonly #stored: StoredApprovals;
  readonly #grants: Grants;
  readonly #go: () => void;

  constructor({ go, grants, host, stored }: DecisionsOptions) {
    this.#host = host;
    this.#stored = stored;
    this.#grants = grants;
    this.#go = go;
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
      this.#go();
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
    this.#go();
    return { kind: "decided", approval: decided };
  }

  /** Approves the requests that wait and that new grants cover. A crash repeats it. */
  async coverFresh(): Promise<void> {
    for (const { givenBy, id } of this.#grants.fresh()) {
      if (givenBy.person !== undefined) await this.#coverWaiting(id, givenBy.person);
      this.#grants.compared(id);
    }
  }

  async #coverWaiting(grantId: string, person: MessengerAuthor): Promise<void> {
    for (const { id } of this.#stored.store.waiting()) {
      const asked = this.#stored.store.get(id);
      if (asked === undefined || !this.#grants.covering(asked).some((grant) => grant.id === grantId))
        continue;
      if (!(await this.#host.mayDecide(asked, { surface: "chat", person }))) continue;
      // The permission check took time, so the state is read again.
      const waiting = this.#stored.store.get(id);
      const now = this.#host.clock.now();
      if (waiting?.state !== "waiting" || now >= waiting.expiresAt) continue;
      const decidedBy = { surface: "grant", person, grantId } as const;
      this.#grants.use(grantId, waiting, () =>
        this.#stored.change(waiting, { state: "approved", decidedAt: now, decidedBy }),
      );
      this.#go();
    }
  }

  /**
   * Adds the words of the person who decided, once, and tells the conversation. Returns `false` if somebody else decided,
   * or the reason is known.
   */
  explain(id: string, person: MessengerAuthor, words: string): boolean {
    const approval = this.#stored.store.get(id);
    if (approval === undefined || !mayExplain(approval, person)) return false;
    this.#stored.change(approval, { reason: words, isExplained: true, isTold: false, drawnState: undefined });
    this.#go();
    return true;
  }

  /** The method that takes a system's decision has checked it. */
  async #isAllowed(approval: Approval, decision: ApprovalDecision, by: Decider): Promise<boolean> {
    if (decision.kind === "withdraw") {
      return isRequester(approval, by);
    }
    return this.#host.mayDecide(approval, by);
  }
}

const DECIDED = {
  approve: "approved",
  reject: "rejected",
  change: "replaced",
  withdraw: "withdrawn",
} as const satisfies Record<ApprovalDecision["kind"], ApprovalState>;
