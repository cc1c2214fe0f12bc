import type { Approval, VoidReason } from "../rules/approval.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import { isOfOtherRun, questionOf } from "../rules/approval-request.ts";
import type { ApprovalRequest } from "../rules/approval-request.ts";
import { cardToTake } from "./card-to-take.ts";
import type { HeldQuestions } from "./held-questions.ts";
import type { StoredApprovals } from "../stored/stored-approvals.ts";

/** A proposal after this time is no answer to the wish for changes any more. */
const CHANGED_WITHIN_MS = 24 * 60 * 60 * 1000;

/** Stores questions to people, with the cards that show them. */
export class AskPeople {
  readonly #host: ApprovalHost;
  readonly #stored: StoredApprovals;
  readonly #held: HeldQuestions;

  constructor(host: ApprovalHost, stored: StoredApprovals, held: HeldQuestions) {
    this.#host = host;
    this.#stored = stored;
    this.#held = held;
  }

  /**
   * Asks for consent. A call asks once. The same action with the same input is asked once in a chat while it is open: a
   * later turn points at the card. Another input under the same key replaces a question of the same person that still
   * waits. A run of a schedule replaces the waiting questions of earlier occurrences, and takes over a card of theirs.
   *
   * @param withIt runs in the transaction that stores the question
   * @param isInStep whether the step of the call goes on, so that the card may come with that of the next call
   * @returns undefined if another input waits or runs under the same key
   */
  request(asked: ApprovalRequest, withIt: () => void = () => {}, isInStep = false): Approval | undefined {
    const ofCall = this.#stored.store.ofCall(asked.requestId, asked.toolCallId);
    const outdated = ofCall === undefined ? this.#outdatedBy(asked) : [];
    const open = this.#stored.store
      .openFor(asked.ledgerKey, asked.action, asked.inputHash)
      .filter(({ id }) => !outdated.some((one) => one.id === id))
      .find((one) => one.inputHash !== asked.inputHash || isInSameChat(one, asked));
    const known = ofCall ?? open;
    // Another run of the schedule tells its outcome. This run would wait for it without hearing of it.
    if (known !== undefined && isOfOtherRun(known, asked)) return undefined;
    if (known?.inputHash === asked.inputHash) {
      this.#host.database.transaction(() => {
        if (isAskedAgain(known, asked)) this.#host.pointAt?.(known, asked.requestId);
        withIt();
      });
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
    this.#stored.store.makeTable();
    this.#host.database.transaction(() => {
      // The model has asked again by itself, so it need not be told.
      if (known !== undefined)
        this.#stored.draw(this.#stored.change(known, { state: "replaced", isTold: true }));
      for (const old of outdated) {
        const isCardTaken = old.id === taken?.id;
        this.#stored.draw(
          this.#stored.change(old, { state: "replaced", isTold: true, successor: approval.id, isCardTaken }),
        );
      }
      this.#succeed(approval);
      this.#stored.store.insert(approval);
      if (!isInStep || taken !== undefined) this.#stored.draw(approval);
      withIt();
    });
    if (isInStep && taken === undefined) this.#held.hold(approval);
    this.#host.onChange();
    return this.#stored.store.get(approval.id) ?? approval;
  }

  /**
   * Stores a question that nobody may answer, already ended. Its card says why, and the turn itself tells the model. A
   * turn that repeats the call gets no second card.
   */
  refuse(asked: ApprovalRequest, reason: VoidReason): void {
    const isKnown = this.#stored.store
      .ofTurn(asked.requestId)
      .some(({ action, inputHash }) => action === asked.action && inputHash === asked.inputHash);
    if (isKnown) return;
    const question = questionOf(asked, { id: this.#host.newId(), now: this.#host.clock.now() });
    this.#stored.store.makeTable();
    this.#host.database.transaction(() => {
      this.#stored.store.insert(question);
      this.#stored.draw(this.#stored.change(question, { state: "void", reason, isTold: true }));
    });
    this.#host.onChange();
  }

  /** Returns the waiting questions of earlier occurrences of the same schedule, oldest first. */
  #outdatedBy(asked: ApprovalRequest): Approval[] {
    if (asked.schedule === undefined) return [];
    return this.#stored.store.waiting().filter((one) => this.#isOfEarlierRun(one, asked));
  }

  /** One occurrence may have a run for each of its chats, and each of them asks. */
  #isOfEarlierRun(one: Approval, asked: ApprovalRequest): boolean {
    if (!isOfOtherRun(one, asked)) return false;
    const occurrence = this.#host.occurrenceOf?.(one.rootRequest);
    return occurrence === undefined || occurrence !== this.#host.occurrenceOf?.(asked.rootRequest);
  }

  /** Connects a question with the one that somebody wanted changes of. Only inside a transaction. */
  #succeed({ action, createdAt, id, requester }: Approval): void {
    const before = this.#stored.store.toChange(action, createdAt - CHANGED_WITHIN_MS);
    if (before === undefined || before.requester?.userId !== requester?.userId) return;
    this.#stored.draw(this.#stored.change(before, { successor: id, drawnState: undefined }));
  }
}

/** People of another chat would neither see the card nor hear of the outcome. */
function isInSameChat({ origin }: Approval, asked: ApprovalRequest): boolean {
  return origin?.messengerId === asked.origin?.messengerId && origin?.threadId === asked.origin?.threadId;
}

/** Whether somebody asks for the same in a later turn. Without an answer, the bot would seem not to listen. */
function isAskedAgain({ requestId, rootRequest, state }: Approval, asked: ApprovalRequest): boolean {
  const isSameRequest = requestId === asked.requestId || rootRequest === asked.rootRequest;
  return state === "waiting" && !isSameRequest && asked.schedule === undefined;
}
