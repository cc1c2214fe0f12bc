import type { Address } from "../../core/chat/surface.ts";
import { MESSAGE_CHANGED } from "../rules/approval.ts";
import { SCHEDULE_DELETED } from "../../core/turn/scheduled-run.ts";
import type { Approval, Decider, HandedOver, VoidReason } from "../rules/approval.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import { UNNAMED_PLACES } from "../rules/card-place.ts";
import type { Unreached } from "../rules/card-place.ts";
import type { ApprovalWork } from "./approval-work.ts";
import type { HeldQuestions } from "./held-questions.ts";
import { shownAlsoIn } from "./card-to-take.ts";
import type { StoredApprovals } from "../stored/stored-approvals.ts";
import type { ConsentParts } from "./consent-parts.ts";

interface WaitingQuestionsParts extends ConsentParts {
  readonly work: ApprovalWork;
  readonly held: HeldQuestions;
}

/** Changes of questions about which nobody has decided: where they are shown, and ends that are no decision. */
export class WaitingQuestions {
  readonly #host: ApprovalHost;
  readonly #stored: StoredApprovals;
  readonly #work: ApprovalWork;
  readonly #held: HeldQuestions;

  constructor({ held, host, stored, work }: WaitingQuestionsParts) {
    this.#host = host;
    this.#stored = stored;
    this.#work = work;
    this.#held = held;
  }

  /**
   * Gives each question of a card a card of its own. Returns `false` if the card is that of one question already.
   *
   * @param withIt runs in the transaction that stores it
   */
  showApart(id: string, withIt: () => void): boolean {
    const approval = this.#stored.store.get(id);
    if (approval?.together === undefined) return false;
    this.#host.database.transaction(() => {
      withIt();
      this.#stored.showApart(approval);
    });
    this.#work.go();
    return true;
  }

  /**
   * Posts a card of a waiting question in one more chat, once. Returns `false` if the question does not wait any more, or
   * has too many cards.
   */
  show(id: string, address: Address): boolean {
    const approval = this.#stored.store.get(id);
    if (approval?.state !== "waiting" || this.#host.clock.now() >= approval.expiresAt) return false;
    const broughtTo = shownAlsoIn(approval, address);
    if (broughtTo === undefined) return false;
    this.#stored.change(approval, { broughtTo, drawnState: undefined });
    this.#work.go();
    return true;
  }

  /**
   * Notes that an approver has asked another one to decide, and shows the question in that person's chat. Returns `false`
   * if it does not wait any more, or has too many cards.
   *
   * @param withIt runs in the transaction that stores it
   */
  handOver(id: string, handedTo: HandedOver, address: Address, withIt: (handed: Approval) => void): boolean {
    const approval = this.#stored.store.get(id);
    if (approval?.state !== "waiting" || this.#host.clock.now() >= approval.expiresAt) return false;
    const broughtTo = shownAlsoIn(approval, address);
    if (broughtTo === undefined) return false;
    this.#host.database.transaction(() => {
      const handed = this.#stored.change(approval, { broughtTo, handedTo, drawnState: undefined });
      this.#stored.draw(handed);
      withIt(handed);
    });
    this.#work.go();
    return true;
  }

  /**
   * Ends the questions of a turn that nobody has decided, because the person changed or deleted the message. `replaced`:
   * a new turn answers the changed message and asks again, so nobody is told.
   */
  drop(requestId: string, state: "replaced" | "withdrawn", by?: Decider): void {
    for (const approval of this.#stored.store.ofTurn(requestId)) {
      if (approval.state !== "waiting") continue;
      const decision = by === undefined ? {} : { decidedBy: by, decidedAt: this.#host.clock.now() };
      const reason = state === "replaced" ? MESSAGE_CHANGED : undefined;
      // Nobody has seen a question of the step that runs, so nobody has to see its end.
      const drawn = this.#held.has(approval) ? { drawnState: state } : {};
      this.#stored.change(approval, { state, reason, isTold: state === "replaced", ...drawn, ...decision });
      this.#host.onChange();
    }
  }

  /**
   * Takes back the questions of a scheduled run that nobody has decided, because somebody has deleted the schedule. No
   * turn tells the conversation: nothing more is expected of that schedule.
   */
  dropRun(rootRequest: string): void {
    for (const approval of this.#stored.store.waiting()) {
      if (approval.rootRequest !== rootRequest) continue;
      this.#stored.change(approval, { state: "withdrawn", reason: SCHEDULE_DELETED, isTold: true });
    }
    // Also if an earlier call has changed them: its process may have died before it could set a wake-up.
    this.#host.onChange();
  }

  /** See `StoredApprovals.cancel`. */
  cancel(why: (approval: Approval) => VoidReason | undefined): void {
    if (this.#stored.cancel(why)) this.#host.onChange();
  }

  /** Notes people who cannot be asked any more. The card says it with the next `ApprovalWork.run`. Returns the changed approvals. */
  lose(whom: (approval: Approval) => readonly Unreached[]): readonly Approval[] {
    const changed = this.#stored.store.waiting().flatMap((approval) => {
      const lost = whom(approval).filter(({ who }) => !approval.unreached.some((known) => known.who === who));
      if (lost.length === 0) return [];
      const unreached = [...approval.unreached, ...lost];
      const change = { unreached, drawnState: undefined, ...this.#escalation({ ...approval, unreached }) };
      return [this.#stored.change(approval, change)];
    });
    if (changed.length > 0) this.#host.onChange();
    return changed;
  }

  /** Deputies are asked at once when nobody else is left. */
  #escalation({ askedIn, escalatedAt, escalateTo, unreached }: Approval): { readonly escalateAt?: number } {
    if (escalateTo === undefined || escalatedAt !== undefined) return {};
    const isLost = askedIn.every(({ who }) =>
      unreached.some((lost) => lost.who === (who ?? UNNAMED_PLACES.askedChat)),
    );
    return isLost ? { escalateAt: this.#host.clock.now() } : {};
  }
}
