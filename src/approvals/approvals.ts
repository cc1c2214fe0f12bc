import type { Database } from "../core/database.ts";
import type { Clock } from "../core/deps.ts";
import type { MessengerAuthor } from "../core/messenger-event.ts";
import type { Address } from "../core/surface.ts";
import type {
  Approval,
  ApprovalDecision,
  ApprovalState,
  CallOutcome,
  Decider,
  DecisionResult,
  VoidReason,
} from "./approval.ts";
import { isOpen, isRequester, mayExplain, MESSAGE_CHANGED } from "./approval.ts";
import { isOfOtherRun, questionOf } from "./approval-request.ts";
import type { ApprovalRequest } from "./approval-request.ts";
import type { ApprovalFilter } from "./approval-store.ts";
import type { Unreached } from "./card-place.ts";
import { ApprovalStore } from "./approval-store.ts";
import { cardToTake, shownAlsoIn } from "./card-to-take.ts";
import { GrantedCalls } from "./granted-calls.ts";
import { Grants } from "./grants.ts";

export type { ApprovalRequest } from "./approval-request.ts";

/** Functions of the object that its approvals need. */
export interface ApprovalHost {
  readonly database: Database;
  readonly clock: Clock;
  readonly newId: () => string;
  /** How long approvals and grants are kept after their end, in milliseconds. @default 365 days */
  readonly keepMs?: () => number;
  /** Tells whether a person may decide. Asked before every decision of a person. */
  mayDecide(approval: Approval, decider: Decider): Promise<boolean>;
  /**
   * Runs the approved action with the rights of the person who asked, through the ledger. Returns its output, or `{
   * error }`. May be called again after a crash: the ledger knows the outcome of the first run.
   */
  run(approval: Approval): Promise<CallOutcome>;
  /**
   * Finds out what became of a call that a grant covered and whose process has ended. Undefined while its turn runs: it
   * may repeat the call.
   */
  outcomeOf(use: Approval): Promise<CallOutcome | undefined>;
  /** Returns the key of the occurrence of a schedule that a run belongs to. @default unknown */
  occurrenceOf?(rootRequest: string): string | undefined;
  /** Returns a code if the action can never run: the bot no longer has it, or no longer serves its chat. */
  whyImpossible(approval: Approval): VoidReason | undefined;
  /**
   * Posts or changes the card, so that it shows the present state. It only stores the change. Called in a transaction.
   */
  draw(approval: Approval): void;
  /**
   * Gives the outcome to the conversation as a turn. It only stores the turn. Called in a transaction, once for each
   * approval, and once more if its reason came later (`isExplained`).
   */
  tell(approval: Approval): void;
  /** Called for each new state of a call that a grant covers, in the transaction that stores it. */
  noteUse(use: Approval): void;
  /** Reminds the people who may decide. It only stores the messages. Called in a transaction, once for each approval. */
  remind(approval: Approval): void;
  /** Called after changes, because the durable wake-up may have to move. */
  onChange(): void;
  /** Logs an error of `run`, which should have none. */
  onFailure(error: unknown): void;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** A proposal after this time is no answer to the wish for changes any more. */
const CHANGED_WITHIN_MS = DAY_MS;
const KEEP_MS = 365 * DAY_MS;
const MOST_SWEPT = 500;
const SWEEP_EVERY_MS = 60 * 60 * 1000;
/** Time after which work that a crash or a failure left is tried again. */
const AGAIN_AFTER_MS = 2500;

/**
 * Approvals of one conversation, from the question to the outcome (I9).
 *
 * 1. A decision is compared with the stored state and stored in one step. Only the first decision counts.
 * 2. A step is stored before it is drawn, run or told.
 * 3. `running` is stored before the action begins. After a crash the ledger tells whether it had its effect.
 * 4. Each step (claim, outcome, card, turn) is repeated until its end is stored.
 * 5. The input that runs is the input that people saw. Nothing changes it.
 */
export class Approvals {
  readonly grants: Grants;
  /** Calls that run without a question. */
  readonly granted: GrantedCalls;
  readonly #host: ApprovalHost;
  readonly #store: ApprovalStore;
  /** Approvals whose action is running in this process. */
  readonly #running = new Map<string, Promise<void>>();
  #catchingUp: Promise<void> | undefined;
  #sweptAt = -Infinity;
  #hasChecked = false;

  constructor(host: ApprovalHost) {
    this.#host = host;
    this.#store = new ApprovalStore(host.database);
    this.grants = new Grants(host.database, host.clock, host.newId);
    this.granted = new GrantedCalls({
      clock: host.clock,
      newId: host.newId,
      store: this.#store,
      grants: this.grants,
      mayDecide: (...asked) => host.mayDecide(...asked),
      outcomeOf: (use) => host.outcomeOf(use),
      onState: (use) => host.noteUse(use),
      onChange: () => host.onChange(),
      database: host.database,
    });
  }

  /**
   * Asks for consent. A call asks once. The same action with the same input is asked once while it is open. Another
   * input under the same key replaces a question of the same person that still waits. A run of a schedule replaces the
   * waiting questions of earlier occurrences, and takes over a card of theirs.
   *
   * @param withIt runs in the transaction that stores the question
   * @returns undefined if another input waits or runs under the same key
   */
  request(asked: ApprovalRequest, withIt: () => void = () => {}): Approval | undefined {
    const ofCall = this.#store.ofCall(asked.requestId, asked.toolCallId);
    const outdated = ofCall === undefined ? this.#outdatedBy(asked) : [];
    const open = this.#store
      .openFor(asked.ledgerKey, asked.action, asked.inputHash)
      .find(({ id }) => !outdated.some((one) => one.id === id));
    const known = ofCall ?? open;
    // Another run of the schedule tells its outcome. This run would wait for it without hearing of it.
    if (known !== undefined && isOfOtherRun(known, asked)) return undefined;
    if (known?.inputHash === asked.inputHash) {
      withIt();
      return known;
    }
    const isSamePerson = known?.requester?.userId === asked.requester?.userId;
    if (known !== undefined && (known.state !== "waiting" || !isSamePerson)) return undefined;
    const taken = cardToTake(asked, outdated);
    const approval = questionOf(asked, {
      id: this.#host.newId(),
      now: this.#host.clock.now(),
      cardOf: taken === undefined ? undefined : (taken.cardOf ?? taken.id),
    });
    this.#store.makeTable();
    this.#host.database.transaction(() => {
      // The model has asked again by itself, so it need not be told.
      if (known !== undefined) this.#draw(this.#change(known, { state: "replaced", isTold: true }));
      for (const old of outdated) {
        const isCardTaken = old.id === taken?.id;
        this.#draw(
          this.#change(old, { state: "replaced", isTold: true, successor: approval.id, isCardTaken }),
        );
      }
      this.#succeed(approval);
      this.#store.insert(approval);
      this.#draw(approval);
      withIt();
    });
    this.#host.onChange();
    return this.#store.get(approval.id) ?? approval;
  }

  /**
   * Stores a question that nobody may answer, already ended. Its card says why, and the turn itself tells the model. A
   * turn that repeats the call gets no second card.
   */
  refuse(asked: ApprovalRequest, reason: VoidReason): void {
    const isKnown = this.#store
      .ofTurn(asked.requestId)
      .some(({ action, inputHash }) => action === asked.action && inputHash === asked.inputHash);
    if (isKnown) return;
    const question = questionOf(asked, { id: this.#host.newId(), now: this.#host.clock.now() });
    this.#store.makeTable();
    this.#host.database.transaction(() => {
      this.#store.insert(question);
      this.#draw(this.#change(question, { state: "void", reason, isTold: true }));
    });
    this.#host.onChange();
  }

  /** Returns the waiting questions of earlier occurrences of the same schedule, oldest first. */
  #outdatedBy(asked: ApprovalRequest): Approval[] {
    if (asked.schedule === undefined) return [];
    return this.#store.waiting().filter((one) => this.#isOfEarlierRun(one, asked));
  }

  /** One occurrence may have a run for each of its chats, and each of them asks. */
  #isOfEarlierRun(one: Approval, asked: ApprovalRequest): boolean {
    if (!isOfOtherRun(one, asked)) return false;
    const occurrence = this.#host.occurrenceOf?.(one.rootRequest);
    return occurrence === undefined || occurrence !== this.#host.occurrenceOf?.(asked.rootRequest);
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

  async decide(id: string, decision: ApprovalDecision, by: Decider): Promise<DecisionResult> {
    const asked = this.#store.get(id);
    if (asked === undefined) return { kind: "unknown" };
    if (asked.state === "waiting" && !(await this.#isAllowed(asked, decision, by)))
      return { kind: "not-allowed", approval: asked };
    // The permission check took time, so the state is read again.
    const approval = this.#store.get(id);
    if (approval === undefined) return { kind: "unknown" };
    if (approval.state !== "waiting") {
      return { kind: approval.state === "expired" ? "expired" : "late", approval };
    }
    if (this.#host.clock.now() >= approval.expiresAt) {
      const expired = this.#change(approval, { state: "expired" });
      this.#go();
      return { kind: "expired", approval: expired };
    }
    const length = decision.kind === "approve" ? decision.grant : undefined;
    if (length !== undefined) this.grants.prepare();
    const decided = this.#host.database.transaction(() => {
      const grant = length === undefined ? undefined : this.grants.give(approval, length, by);
      return this.#change(approval, {
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

  /** Approves the requests that wait and that new grants cover, and finds lost outcomes. A crash repeats it. */
  async #catchUp(): Promise<void> {
    for (const { givenBy, id } of this.grants.fresh()) {
      if (givenBy.person !== undefined) await this.#coverWaiting(id, givenBy.person);
      this.grants.compared(id);
    }
    await this.granted.findLost();
  }

  async #coverWaiting(grantId: string, person: MessengerAuthor): Promise<void> {
    for (const { id } of this.#store.waiting()) {
      const asked = this.#store.get(id);
      if (asked === undefined || !this.grants.covering(asked).some((grant) => grant.id === grantId)) continue;
      if (!(await this.#host.mayDecide(asked, { surface: "chat", person }))) continue;
      // The permission check took time, so the state is read again.
      const waiting = this.#store.get(id);
      const now = this.#host.clock.now();
      if (waiting?.state !== "waiting" || now >= waiting.expiresAt) continue;
      const decidedBy = { surface: "grant", person, grantId } as const;
      this.grants.use(grantId, waiting, () =>
        this.#change(waiting, { state: "approved", decidedAt: now, decidedBy }),
      );
      this.#go();
    }
  }

  /**
   * Adds the words of the person who decided, once, and tells the conversation. Returns `false` if somebody else decided,
   * or the reason is known.
   */
  explain(id: string, person: MessengerAuthor, words: string): boolean {
    const approval = this.#store.get(id);
    if (approval === undefined || !mayExplain(approval, person)) return false;
    this.#change(approval, { reason: words, isExplained: true, isTold: false, drawnState: undefined });
    this.#go();
    return true;
  }

  /**
   * Posts a card of a waiting question in one more chat, once. Returns `false` if the question does not wait any more, or
   * has too many cards.
   */
  show(id: string, address: Address): boolean {
    const approval = this.#store.get(id);
    if (approval?.state !== "waiting" || this.#host.clock.now() >= approval.expiresAt) return false;
    const broughtTo = shownAlsoIn(approval, address);
    if (broughtTo === undefined) return false;
    this.#change(approval, { broughtTo, drawnState: undefined });
    this.#go();
    return true;
  }

  /** Whether a question of a turn is undecided. */
  isAsking(requestId: string): boolean {
    return this.#store.ofTurn(requestId).some(({ state }) => state === "waiting");
  }

  /** Whether people have agreed to something for which a turn has asked. */
  hasConsent(requestId: string): boolean {
    return this.#store.ofTurn(requestId).some(({ state }) => CONSENTED.has(state));
  }

  /**
   * Ends the questions of a turn that nobody has decided, because the person changed or deleted the message. `replaced`:
   * a new turn answers the changed message and asks again, so nobody is told.
   */
  drop(requestId: string, state: "replaced" | "withdrawn", by?: Decider): void {
    for (const approval of this.#store.ofTurn(requestId)) {
      if (approval.state !== "waiting") continue;
      const decision = by === undefined ? {} : { decidedBy: by, decidedAt: this.#host.clock.now() };
      const reason = state === "replaced" ? MESSAGE_CHANGED : undefined;
      this.#change(approval, { state, reason, isTold: state === "replaced", ...decision });
      this.#host.onChange();
    }
  }

  /** Ends waiting approvals that can never run. Their cards and turns follow with the next `work`. */
  cancel(why: (approval: Approval) => VoidReason | undefined): void {
    for (const approval of this.#store.waiting()) {
      const reason = why(approval);
      if (reason === undefined) continue;
      this.#change(approval, { state: "void", reason });
      this.#host.onChange();
    }
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

  /**
   * Does all due work: expires, draws, runs, tells. Called at start, by alarm and after each change. Resolves when the
   * actions that it has begun have ended.
   */
  async work(): Promise<void> {
    const now = this.#host.clock.now();
    if (!this.#hasChecked) {
      // Only a new version of the bot, which is a new process, can lack an action or a messenger.
      this.#hasChecked = true;
      this.cancel((approval) => this.#host.whyImpossible(approval));
    }
    for (const approval of this.#store.due(now)) {
      const isWaiting = approval.state === "waiting";
      if (isWaiting && now < approval.expiresAt && now >= (approval.remindAt ?? Infinity))
        this.#remind(approval);
      const isLate = isWaiting && now >= approval.expiresAt;
      this.#bringUpToDate(isLate ? this.#change(approval, { state: "expired" }) : approval);
    }
    if (now - this.#sweptAt >= SWEEP_EVERY_MS) {
      this.#sweptAt = now;
      const endedBefore = now - (this.#host.keepMs?.() ?? KEEP_MS);
      this.#store.sweep(endedBefore, MOST_SWEPT);
      this.grants.sweep(endedBefore);
    }
    if (this.#isBehind()) {
      this.#catchingUp ??= this.#catchUp()
        .catch((error: unknown) => this.#host.onFailure(error))
        .finally(() => (this.#catchingUp = undefined));
    }
    await Promise.all([...this.#running.values(), this.#catchingUp]);
  }

  /** Whether an action is running in this process. */
  isBusy(): boolean {
    return this.#running.size > 0 || this.#catchingUp !== undefined;
  }

  #isBehind(): boolean {
    return this.granted.hasLost() || this.grants.fresh().length > 0;
  }

  /** Time at which `work` must be called again, in epoch milliseconds. Undefined if no work is left. */
  nextWakeAt(): number | undefined {
    const at = this.#isBehind() ? 0 : this.#store.nextDueAt();
    return at === 0 ? this.#host.clock.now() + AGAIN_AFTER_MS : at;
  }

  #remind(approval: Approval): void {
    this.#host.database.transaction(() => {
      this.#change(approval, { remindAt: undefined });
      this.#host.remind(approval);
    });
  }

  /** Notes people who cannot be asked any more. The card says it with the next `work`. Returns the changed approvals. */
  lose(whom: (approval: Approval) => readonly Unreached[]): readonly Approval[] {
    const changed = this.#store.waiting().flatMap((approval) => {
      const lost = whom(approval).filter(({ who }) => !approval.unreached.some((known) => known.who === who));
      if (lost.length === 0) return [];
      const unreached = [...approval.unreached, ...lost];
      return [this.#change(approval, { unreached, drawnState: undefined })];
    });
    if (changed.length > 0) this.#host.onChange();
    return changed;
  }

  /** Connects a question with the one that somebody wanted changes of. Only inside a transaction. */
  #succeed({ action, createdAt, id, requester }: Approval): void {
    const before = this.#store.toChange(action, createdAt - CHANGED_WITHIN_MS);
    if (before === undefined || before.requester?.userId !== requester?.userId) return;
    this.#draw(this.#change(before, { successor: id, drawnState: undefined }));
  }

  /** The method that takes a system's decision has checked it. */
  async #isAllowed(approval: Approval, decision: ApprovalDecision, by: Decider): Promise<boolean> {
    if (decision.kind === "withdraw") {
      return isRequester(approval, by);
    }
    return this.#host.mayDecide(approval, by);
  }

  #go(): void {
    this.#host.onChange();
    void this.work().catch((error: unknown) => this.#host.onFailure(error));
  }

  #bringUpToDate(approval: Approval): void {
    const { state } = approval;
    if (state === "approved" || state === "running") {
      this.#run(approval);
      return;
    }
    this.#host.database.transaction(() => {
      this.#draw(approval);
      if (state !== "waiting" && !approval.isTold) {
        this.#host.tell(approval);
        this.#change(approval, { isTold: true });
      }
    });
  }

  #run(approved: Approval): void {
    const { id } = approved;
    if (this.#running.has(id)) return;
    const running = this.#host.database.transaction(() => {
      const claimed = this.#change(approved, { state: "running" });
      this.#draw(claimed);
      return claimed;
    });
    const work = this.#host
      .run(running)
      .then(({ output, isFailure }) => {
        const state = isFailure ? "failed" : "done";
        const ended = this.#change(running, { state, outcome: output });
        this.#running.delete(id);
        this.#bringUpToDate(ended);
      })
      .catch((error: unknown) => {
        // The row stays `running`. The next wake-up tries again, and the ledger knows the outcome of this try.
        this.#running.delete(id);
        this.#host.onFailure(error);
      })
      .finally(() => this.#host.onChange());
    this.#running.set(id, work);
  }

  /** Draws a state that the card does not show yet. Only inside a transaction. */
  #draw(approval: Approval): void {
    if (this.#store.get(approval.id)?.drawnState === approval.state) return;
    this.#host.draw(approval);
    this.#change(approval, { drawnState: approval.state });
  }

  /** Changes the stored approval, and returns it. */
  #change({ id }: Approval, change: Partial<Approval>): Approval {
    const stored = this.#store.get(id);
    if (stored === undefined) throw new TypeError("The approval is not stored.");
    const hasEnded = change.state !== undefined && !isOpen(change.state);
    const changed: Approval = {
      ...stored,
      ...change,
      ...(hasEnded && { endedAt: this.#host.clock.now() }),
    };
    this.#store.update(changed);
    return changed;
  }
}

const CONSENTED: ReadonlySet<ApprovalState> = new Set(["approved", "running", "done", "failed"]);

const DECIDED = {
  approve: "approved",
  reject: "rejected",
  change: "replaced",
  withdraw: "withdrawn",
} as const satisfies Record<ApprovalDecision["kind"], ApprovalState>;
