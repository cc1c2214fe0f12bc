import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import { isRequester, mayExplain } from "../rules/approval.ts";
import type {
  Approval,
  ApprovalDecision,
  ApprovalState,
  Decider,
  DecisionResult,
} from "../rules/approval.ts";
import { decidesAlone, hasAgreed, isOfSame, needsSeveral, withAgreement } from "../rules/quorum.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import type { ApprovalWork } from "./approval-work.ts";
import type { Deciders } from "./deciders.ts";
import type { Grants } from "./grants.ts";
import type { StoredApprovals } from "../stored/stored-approvals.ts";
import type { ConsentParts } from "./consent-parts.ts";

export interface DecisionsOptions extends ConsentParts {
  readonly work: ApprovalWork;
}

/** Decisions of people and of systems. Each is compared with the stored state and stored in one step. */
export class Decisions {
  readonly #host: ApprovalHost;
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

  /**
   * Decides about a waiting question. Only the first decision counts.
   *
   * @param withIt runs in the transaction that stores it
   */
  async decide(
    id: string,
    decision: ApprovalDecision,
    by: Decider,
    withIt: () => void = nothing,
  ): Promise<DecisionResult> {
    const asked = this.#stored.store.get(id);
    if (asked === undefined) return { kind: "unknown" };
    if (asked.state === "waiting" && !(await this.#isAllowed(asked, decision, by)))
      return { kind: "not-allowed", approval: asked };
    const lost = await this.#lostAgreements(asked, decision);
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
    const counted = this.#counted(approval, decision, by, lost);
    if (counted !== undefined) {
      const waiting = this.#host.database.transaction(() => {
        withIt();
        return this.#stored.change(approval, { agreed: counted, drawnState: undefined });
      });
      this.#work.go();
      return { kind: "decided", approval: waiting };
    }
    const length = decision.kind === "approve" ? decision.grant : undefined;
    if (length !== undefined) this.#grants.prepare();
    const decided = this.#host.database.transaction(() => {
      withIt();
      const grant = length === undefined ? undefined : this.#grants.give(approval, length, by);
      return this.#stored.change(approval, {
        state: DECIDED[decision.kind],
        decidedAt: this.#host.clock.now(),
        ...(needsSeveral(approval) && { agreed: this.#agreedAtEnd(approval, decision, by, lost) }),
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
   *
   * @param withIt runs in the transaction that stores it
   */
  explain(id: string, person: MessengerAuthor, words: string, withIt: () => void = nothing): boolean {
    const approval = this.#stored.store.get(id);
    if (approval === undefined || !mayExplain(approval, person)) return false;
    const change = { reason: words, isExplained: true, isTold: false, drawnState: undefined };
    this.#host.database.transaction(() => {
      withIt();
      this.#stored.change(approval, change);
    });
    this.#work.go();
    return true;
  }

  /** Returns those of several people who may not decide any more when another one approves. */
  async #lostAgreements(
    { agreed = [], ...approval }: Approval,
    { kind }: ApprovalDecision,
  ): Promise<readonly Decider[]> {
    if (kind !== "approve") return [];
    const kept = await Promise.all(agreed.map((one) => this.#deciders.mayDecide(approval, one)));
    return agreed.filter((_one, index) => kept[index] === false);
  }

  /** Returns those who have approved by now, if the question goes on to wait. Undefined if it is decided. */
  #counted(
    approval: Approval,
    decision: ApprovalDecision,
    by: Decider,
    lost: readonly Decider[],
  ): readonly Decider[] | undefined {
    const { agreed = [], quorum = 1 } = approval;
    if (decision.kind === "retract") return agreed.filter((one) => !isOfSame(one, by));
    if (decision.kind !== "approve" || quorum === 1 || decidesAlone(by)) return undefined;
    const all = this.#agreedAtEnd(approval, decision, by, lost);
    return all.length < quorum ? all : undefined;
  }

  /** Those who have approved when a decision is made. One who rejects has not. */
  #agreedAtEnd(
    { agreed = [] }: Approval,
    { kind }: ApprovalDecision,
    by: Decider,
    lost: readonly Decider[],
  ): readonly Decider[] {
    const kept = agreed.filter((one) => !lost.some((gone) => isOfSame(gone, one)));
    if (kind === "approve" && !decidesAlone(by)) return withAgreement({ agreed: kept }, by);
    return kept.filter((one) => !isOfSame(one, by));
  }

  /** The method that takes a system's decision has checked it. */
  async #isAllowed(approval: Approval, decision: ApprovalDecision, by: Decider): Promise<boolean> {
    if (decision.kind === "withdraw") {
      return isRequester(approval, by);
    }
    if (decision.kind === "retract") return hasAgreed(approval, by);
    return this.#deciders.mayDecide(approval, by);
  }
}

function nothing(): void {}

const DECIDED = {
  approve: "approved",
  reject: "rejected",
  change: "replaced",
  withdraw: "withdrawn",
  retract: "waiting",
} as const satisfies Record<ApprovalDecision["kind"], ApprovalState>;
