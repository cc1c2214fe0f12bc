import type { Approval, ApprovalState } from "../rules/approval.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import type { ApprovalFilter, ApprovalStore } from "../stored/approval-store.ts";
import { StoredApprovals } from "../stored/stored-approvals.ts";
import { ApprovalWork } from "./approval-work.ts";
import { AskPeople } from "./ask-people.ts";
import { Deciders } from "./deciders.ts";
import { Decisions } from "./decisions.ts";
import { EditedQuestions } from "./edited-questions.ts";
import { FreshGrants } from "./fresh-grants.ts";
import { GrantedRuns } from "./granted-runs.ts";
import { Grants } from "./grants.ts";
import { HeldQuestions } from "./held-questions.ts";
import { WaitingQuestions } from "./waiting-questions.ts";

/**
 * Approvals of one conversation, from the question to the outcome (I9).
 *
 * 1. A decision is compared with the stored state and stored in one step. Only the first decision counts.
 * 2. A step is stored before it is drawn, run or told.
 * 3. `running` is stored before the action begins. After a crash the ledger tells whether it had its effect.
 * 4. Each step (claim, outcome, card, turn) is repeated until its end is stored.
 * 5. The input that runs is the input that people saw. Nothing changes it.
 *
 * `StoredApprovals` is the only part that changes a row.
 */
export class Approvals {
  readonly asking: AskPeople;
  /** Changes those that wait. */
  readonly questions: WaitingQuestions;
  /** Puts others with a changed input in their place. */
  readonly edited: EditedQuestions;
  /** Ends them. */
  readonly decisions: Decisions;
  /** Acts on all of it. */
  readonly work: ApprovalWork;
  readonly deciders: Deciders;
  readonly grants: Grants;
  /** Calls that run without a question. */
  readonly granted: GrantedRuns;
  readonly #store: ApprovalStore;

  constructor(host: ApprovalHost) {
    const stored = new StoredApprovals(host);
    const { store } = stored;
    this.#store = store;
    const deciders = new Deciders(host, stored);
    this.deciders = deciders;
    const grants = new Grants(host);
    this.grants = grants;
    const parts = { host, stored, grants, deciders };
    const granted = new GrantedRuns({ ...parts, store });
    this.granted = granted;
    const fresh = new FreshGrants(parts);
    const held = new HeldQuestions(host.clock);
    const work = new ApprovalWork({ ...parts, granted, fresh, held });
    this.work = work;
    this.asking = new AskPeople(host, stored, held);
    this.questions = new WaitingQuestions({ ...parts, work, held });
    this.edited = new EditedQuestions({ ...parts, work });
    this.decisions = new Decisions({ ...parts, work });
  }

  /**
   * Returns the questions of a card, oldest first: all that it shows together, or those that it has shown one after the
   * other, the last one now.
   */
  onCard(id: string, isBrought = false): Approval[] {
    const first = this.#store.get(id);
    if (first?.together === id && !isBrought) return this.#store.together(first);
    return this.#oneByOne(id);
  }

  /** Returns the questions that a card of one question has shown, the last one now. */
  #oneByOne(id: string): Approval[] {
    const shown: Approval[] = [];
    for (let one = this.#store.get(id); one !== undefined;) {
      shown.push(one);
      one =
        one.isCardTaken === true && one.successor !== undefined ? this.#store.get(one.successor) : undefined;
    }
    return shown;
  }

  /** Returns an approval and the others on its card, oldest first. */
  together(approval: Approval): readonly Approval[] {
    return this.#store.together(approval);
  }

  /** Returns the questions of a turn, in any state. */
  ofTurn(requestId: string): readonly Approval[] {
    return this.#store.ofTurn(requestId);
  }

  /** Whether a question of a turn is undecided. */
  isAsking(requestId: string): boolean {
    return this.#store.ofTurn(requestId).some(({ state }) => state === "waiting");
  }

  /** Whether people have agreed to something for which a turn has asked. */
  hasConsent(requestId: string): boolean {
    return this.#store.ofTurn(requestId).some(({ state }) => CONSENTED.has(state));
  }

  get(id: string): Approval | undefined {
    return this.#store.get(id);
  }

  waiting(): readonly Approval[] {
    return this.#store.waiting();
  }

  list(filter: ApprovalFilter = {}): readonly Approval[] {
    return this.#store.list(filter);
  }
}

const CONSENTED: ReadonlySet<ApprovalState> = new Set(["approved", "running", "done", "failed"]);
