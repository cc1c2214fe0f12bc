import type { Amount } from "../../core/text/amount.ts";
import { claimOf, isLimited } from "../rules/allowance.ts";
import type { Approval, CallOutcome } from "../rules/approval.ts";
import type { Grant } from "../rules/grant.ts";
import type { ApprovalStore } from "../stored/approval-store.ts";
import type { ConsentParts } from "./consent-parts.ts";

interface GrantedRunsParts extends ConsentParts {
  readonly store: ApprovalStore;
}

/** The ledger keeps a run for at least this long. Later, it may have forgotten one. */
const LEDGER_KNOWS_MS = 29 * 24 * 60 * 60 * 1000;

/** A call that needs consent, in the form of a question that nobody was asked. */
export type UnaskedCall = Omit<
  Approval,
  "id" | "createdAt" | "state" | "decidedAt" | "decidedBy" | "outcome" | "endedAt" | "isInline"
>;

/**
 * Calls that run without a question, because a grant covers them. Each use is stored as a decided approval before the
 * call runs, with the id of the grant. If a crash loses its outcome, the next process finds out when the turn has ended.
 *
 * A use of a limited grant is stored, then claimed at the root, and then it runs. The root gets the claim back only if the
 * ledger says that the call had no effect. So no order of claims, crashes and returns spends more than people have agreed
 * to.
 */
export class GrantedRuns {
  readonly #options: GrantedRunsParts;
  /** Ids of uses without an outcome from earlier processes. Undefined until they are looked up. */
  #lost: Set<string> | undefined;
  /** Ids of uses whose call is running in this process. */
  readonly #live = new Set<string>();

  constructor(options: GrantedRunsParts) {
    this.#options = options;
  }

  /**
   * Uses a grant for a call. Undefined if none covers it, the person who gave it may not decide any more, or not enough of
   * it is left.
   *
   * @param amount the money that the call moves
   */
  async use(call: UnaskedCall, amount?: Amount): Promise<Approval | undefined> {
    const { deciders, grants, host, store } = this.#options;
    // Later, a use of this process would look like a lost one.
    this.#lostUses();
    // People have been asked about this very call, and their decision counts. A crash has repeated the call.
    if (store.ofCall(call.requestId, call.toolCallId) !== undefined) return undefined;
    // People are deciding about the same.
    if (store.openFor(call.ledgerKey, call.action, call.inputHash).length > 0) return undefined;
    if (call.schedule !== undefined) grants.endOutdated(call.schedule);
    for (const grant of grants.covering(call)) {
      const { id: grantId } = grant;
      const { person } = grant.givenBy;
      if (person === undefined || claimOf(grant, "", amount) === undefined) continue;
      const now = host.clock.now();
      const use: Approval = {
        ...call,
        id: host.newId(),
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
      if (!(await deciders.mayDecide(use, { surface: "chat", person }))) continue;
      // The same call again, after a crash. It counts once.
      const earlier = store.useOfCall(call.requestId, call.toolCallId);
      const isSame = earlier?.inputHash === call.inputHash && earlier.decidedBy?.grantId === grantId;
      if (isSame && !earlier.isGivenBack && grants.covering(call).some(({ id }) => id === grantId)) {
        const resumed = this.#resume(earlier);
        if (await this.#isClaimed(grant, resumed, amount)) return resumed;
        continue;
      }
      store.makeTable();
      const isUsed = grants.use(grantId, call, () => {
        store.insert(use);
        if (!isLimited(grant)) host.noteUse(use);
      });
      if (!isUsed) continue;
      this.#live.add(use.id);
      host.onChange();
      if (await this.#isClaimed(grant, use, amount)) return use;
    }
    return undefined;
  }

  /** Claims a use of a limited grant at the root. If that fails, nothing has run in this process. */
  async #isClaimed(grant: Grant, use: Approval, amount: Amount | undefined): Promise<boolean> {
    const { grants, host, store } = this.#options;
    const claim = claimOf(grant, use.id, amount);
    if (!isLimited(grant) || claim === undefined) return true;
    const result = await host.claim(claim).then(
      (isClaimed) => (isClaimed ? "claimed" : "refused"),
      (error: unknown) => {
        host.onFailure(error);
        return "unknown";
      },
    );
    // Somebody may have ended the grant meanwhile.
    const isCovered = grants.covering(use).some(({ id }) => id === grant.id);
    if (result === "claimed" && isCovered) {
      host.database.transaction(() => host.noteUse(use));
      return true;
    }
    this.#live.delete(use.id);
    if (result === "refused")
      host.database.transaction(() => {
        store.remove(use.id);
        grants.takeBackUse(grant.id);
      });
    // The claim may count, and an earlier process may have run the call: the ledger knows.
    else this.#lostUses().add(use.id);
    host.onChange();
    return false;
  }

  /** A call goes on that a crash has interrupted. It may have been taken for one that never ran. */
  #resume(use: Approval): Approval {
    this.#live.add(use.id);
    this.#lostUses().delete(use.id);
    if (use.state !== "failed") return use;
    const resumed: Approval = { ...use, state: "approved", outcome: undefined, endedAt: undefined };
    this.#store(resumed);
    return resumed;
  }

  /** Whether outcomes of earlier processes are missing. */
  hasLost(): boolean {
    return this.#lostUses().size > 0;
  }

  /** Finds the outcomes that earlier processes have not stored. Uses of turns that still run are left alone. */
  async findLost(): Promise<void> {
    const { host, store } = this.#options;
    const lost = this.#lostUses();
    for (const id of lost) {
      const use = store.get(id);
      const found = use?.state === "approved" ? await host.outcomeOf(use) : "ended";
      if (found === undefined) continue;
      // The turn may have repeated the call meanwhile, so the state is read again.
      const now = store.get(id);
      const isKnown = found !== "ended" && found !== "asks";
      if (isKnown && now?.state === "approved" && !this.#live.has(id)) this.#end(now, found);
      lost.delete(id);
    }
  }

  #lostUses(): Set<string> {
    this.#lost ??= new Set(this.#options.store.openUses().map(({ id }) => id));
    return this.#lost;
  }

  /** Stores the outcome of a call that a grant has covered. Does nothing for any other call. */
  end(requestId: string, toolCallId: string, outcome: CallOutcome): void {
    const use = this.#options.store.useOfCall(requestId, toolCallId);
    if (use?.state === "approved") this.#end(use, outcome);
  }

  #end(use: Approval, { hadNoEffect = false, isFailure, output }: CallOutcome): void {
    const state = isFailure ? "failed" : "done";
    const { grants, host } = this.#options;
    const now = host.clock.now();
    const grant = grants.get(use.decidedBy?.grantId ?? "");
    const isLedgerSure = hadNoEffect && now < use.createdAt + LEDGER_KNOWS_MS;
    const isGivenBack = isLedgerSure && grant !== undefined && isLimited(grant);
    this.#store({ ...use, state, outcome: output, endedAt: now, isGivenBack });
    this.#live.delete(use.id);
  }

  #store(changed: Approval): void {
    const { host, store } = this.#options;
    host.database.transaction(() => {
      store.update(changed);
      host.noteUse(changed);
    });
    host.onChange();
  }
}
