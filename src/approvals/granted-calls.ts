import type { Json } from "../core/content.ts";
import type { Clock } from "../core/deps.ts";
import type { Approval, Decider } from "./approval.ts";
import type { ApprovalStore } from "./approval-store.ts";
import type { Grants } from "./grants.ts";

export interface GrantedCallsOptions {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly store: ApprovalStore;
  readonly grants: Grants;
  /** Tells whether a person may decide, asked now. */
  readonly mayDecide: (approval: Approval, decider: Decider) => Promise<boolean>;
}

/** A call that needs consent, in the form of a question that nobody was asked. */
export type UnaskedCall = Omit<
  Approval,
  "id" | "createdAt" | "state" | "decidedAt" | "decidedBy" | "outcome" | "endedAt" | "isInline"
>;

/**
 * Calls that run without a question, because a grant covers them. Each use is stored as a decided approval before the
 * call runs, with the id of the grant. A use whose outcome a crash has lost stays `approved`.
 */
export class GrantedCalls {
  readonly #options: GrantedCallsOptions;

  constructor(options: GrantedCallsOptions) {
    this.#options = options;
  }

  /** Uses a grant for a call. Undefined if none covers it, or the person who gave it may not decide any more. */
  async use(call: UnaskedCall): Promise<Approval | undefined> {
    const { clock, grants, mayDecide, newId, store } = this.#options;
    // People are deciding about this very call.
    if (store.openFor(call.ledgerKey, call.action, call.inputHash).length > 0) return undefined;
    if (call.schedule !== undefined) grants.endOutdated(call.schedule);
    for (const { givenBy, id: grantId } of grants.covering(call)) {
      const { person } = givenBy;
      if (person === undefined) continue;
      const now = clock.now();
      const use: Approval = {
        ...call,
        id: newId(),
        createdAt: now,
        state: "approved",
        isInline: true,
        drawnState: "approved",
        isTold: true,
        decidedAt: now,
        decidedBy: { surface: "grant", person, grantId },
        outcome: undefined,
        endedAt: undefined,
      };
      if (!(await mayDecide(use, { surface: "chat", person }))) continue;
      // The same call again, after a crash. It counts once.
      const earlier = store.useOfCall(call.requestId, call.toolCallId);
      const isSame = earlier?.inputHash === call.inputHash && earlier.decidedBy?.grantId === grantId;
      if (isSame && grants.covering(call).some(({ id }) => id === grantId)) return earlier;
      store.makeTable();
      if (grants.use(grantId, call, () => store.insertDecided(use))) return use;
    }
    return undefined;
  }

  /** Stores the outcome of a call that a grant has covered. Does nothing for any other call. */
  end(requestId: string, toolCallId: string, output: Json, isFailure: boolean): void {
    const { clock, store } = this.#options;
    const use = store.useOfCall(requestId, toolCallId);
    if (use?.state !== "approved") return;
    store.update({ ...use, state: isFailure ? "failed" : "done", outcome: output, endedAt: clock.now() });
  }
}
