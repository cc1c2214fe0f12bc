import type { MessengerAuthor } from "../../core/messenger-event.ts";
import type { Address } from "../../core/surface.ts";
import type {
  Approval,
  ApprovalDecision,
  ApprovalState,
  Decider,
  DecisionResult,
  VoidReason,
} from "../rules/approval.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import type { ApprovalRequest } from "../rules/approval-request.ts";
import type { ApprovalFilter, ApprovalStore } from "../stored/approval-store.ts";
import { ApprovalWork } from "./approval-work.ts";
import { AskPeople } from "./ask-people.ts";
import type { Unreached } from "../rules/card-place.ts";
import { Decisions } from "./decisions.ts";
import { GrantedCalls } from "./granted-calls.ts";
import { Grants } from "./grants.ts";
import { StoredApprovals } from "../stored/stored-approvals.ts";
import { WaitingQuestions } from "./waiting-questions.ts";

export type { ApprovalHost } from "../rules/approval-host.ts";
export type { ApprovalRequest } from "../rules/approval-request.ts";

/**
 * Approvals of one conversation, from the question to the outcome (I9).
 *
 * 1. A decision is compared with the stored state and stored in one step. Only the first decision counts.
 * 2. A step is stored before it is drawn, run or told.
 * 3. `running` is stored before the action begins. After a crash the ledger tells whether it had its effect.
 * 4. Each step (claim, outcome, card, turn) is repeated until its end is stored.
 * 5. The input that runs is the input that people saw. Nothing changes it.
 *
 * Its parts: `AskPeople` stores questions, `WaitingQuestions` changes those that wait, `Decisions` ends them, and
 * `ApprovalWork` acts on all of it. `StoredApprovals` is the only one that changes a row.
 */
export class Approvals {
  readonly grants: Grants;
  /** Calls that run without a question. */
  readonly granted: GrantedCalls;
  readonly #store: ApprovalStore;
  readonly #asking: AskPeople;
  readonly #questions: WaitingQuestions;
  readonly #decisions: Decisions;
  readonly #work: ApprovalWork;

  constructor(host: ApprovalHost) {
    const stored = new StoredApprovals(host);
    this.#store = stored.store;
    this.grants = new Grants(host.database, host.clock, host.newId);
    this.granted = new GrantedCalls({
      clock: host.clock,
      newId: host.newId,
      store: stored.store,
      grants: this.grants,
      mayDecide: (...asked) => host.mayDecide(...asked),
      outcomeOf: (use) => host.outcomeOf(use),
      onState: (use) => host.noteUse(use),
      onChange: () => host.onChange(),
      database: host.database,
    });
    const { granted, grants } = this;
    const go = (): void => {
      host.onChange();
      void this.work().catch((error: unknown) => host.onFailure(error));
    };
    this.#asking = new AskPeople(host, stored);
    this.#questions = new WaitingQuestions(host, stored, go);
    this.#decisions = new Decisions({ host, stored, grants, go });
    this.#work = new ApprovalWork({
      host,
      stored,
      grants,
      granted,
      questions: this.#questions,
      decisions: this.#decisions,
    });
  }

  /** See `AskPeople.request`. */
  request(asked: ApprovalRequest, withIt?: () => void): Approval | undefined {
    return this.#asking.request(asked, withIt);
  }

  /** See `AskPeople.refuse`. */
  refuse(asked: ApprovalRequest, reason: VoidReason): void {
    this.#asking.refuse(asked, reason);
  }

  /** See `Decisions.decide`. */
  decide(id: string, decision: ApprovalDecision, by: Decider): Promise<DecisionResult> {
    return this.#decisions.decide(id, decision, by);
  }

  /** See `Decisions.explain`. */
  explain(id: string, person: MessengerAuthor, words: string): boolean {
    return this.#decisions.explain(id, person, words);
  }

  /** See `WaitingQuestions.show`. */
  show(id: string, address: Address): boolean {
    return this.#questions.show(id, address);
  }

  /** See `WaitingQuestions.drop`. */
  drop(requestId: string, state: "replaced" | "withdrawn", by?: Decider): void {
    this.#questions.drop(requestId, state, by);
  }

  /** See `WaitingQuestions.dropRun`. */
  dropRun(rootRequest: string): void {
    this.#questions.dropRun(rootRequest);
  }

  /** See `WaitingQuestions.cancel`. */
  cancel(why: (approval: Approval) => VoidReason | undefined): void {
    this.#questions.cancel(why);
  }

  /** See `WaitingQuestions.lose`. */
  lose(whom: (approval: Approval) => readonly Unreached[]): readonly Approval[] {
    return this.#questions.lose(whom);
  }

  /** See `ApprovalWork.work`. */
  work(): Promise<void> {
    return this.#work.work();
  }

  /** Whether an action is running in this process. */
  isBusy(): boolean {
    return this.#work.isBusy();
  }

  /** See `ApprovalWork.nextWakeAt`. */
  nextWakeAt(): number | undefined {
    return this.#work.nextWakeAt();
  }

  /** Returns the questions that a card has shown, oldest first. The last one is on it now. */
  onCard(id: string): Approval[] {
    const shown: Approval[] = [];
    for (let one = this.#store.get(id); one !== undefined;) {
      shown.push(one);
      one =
        one.isCardTaken === true && one.successor !== undefined ? this.#store.get(one.successor) : undefined;
    }
    return shown;
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
