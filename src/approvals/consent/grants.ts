import { isSameSchedule } from "../../core/turn/schedule-binding.ts";
import type { ScheduleBinding } from "../../core/turn/schedule-binding.ts";
import type { Approval, Decider } from "../rules/approval.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import { covers, grantOfApproval, isInForce } from "../rules/grant.ts";
import type { Grant, GrantQuestion } from "../rules/grant.ts";
import type { GrantLength } from "../rules/grant-length.ts";
import { GrantStore } from "../stored/grant-store.ts";

/**
 * Grants of one conversation.
 *
 * 1. A grant is stored with the decision that gives it, in one transaction.
 * 2. Its terms are frozen when it is given. A use is checked against them and stored in one step.
 * 3. A new grant is compared with the requests that wait, also after a crash.
 * 4. It covers nothing after its time, after somebody has ended it, or while the person who gave it may not decide. The
 *    caller checks the last one before `use`.
 */
export class Grants {
  readonly #host: ApprovalHost;
  readonly #store: GrantStore;

  constructor(host: ApprovalHost) {
    this.#host = host;
    this.#store = new GrantStore(host.database);
  }

  /** Prepares `give`, outside of its transaction. */
  prepare(): void {
    this.#store.makeTable();
  }

  /** Gives the grant that a card has offered. Undefined if it offered none. Only inside a transaction. */
  give(approval: Approval, length: GrantLength, by: Decider): Grant | undefined {
    const now = this.#host.clock.now();
    const grant = grantOfApproval(approval, { id: this.#host.newId(), length, by, now });
    if (grant !== undefined) this.#store.insert(grant);
    return grant;
  }

  /** Returns the grants that cover a call now, newest first. */
  covering(question: GrantQuestion): Grant[] {
    const now = this.#host.clock.now();
    return this.#store
      .ofAction(question.action)
      .filter((grant) => covers(grant, question, now))
      .toReversed();
  }

  /**
   * Uses a grant for a call, and stores the use with `record`. Returns `false` if it does not cover the call any more:
   * nothing is stored then.
   */
  use(id: string, question: GrantQuestion, record: () => void): boolean {
    const now = this.#host.clock.now();
    const grant = this.#store.get(id);
    if (grant === undefined || !covers(grant, question, now)) return false;
    this.#host.database.transaction(() => {
      this.#store.update({ ...grant, uses: grant.uses + 1, lastUsedAt: now });
      record();
    });
    return true;
  }

  /** A use did not count: not enough of the grant was left. Only inside a transaction. */
  takeBackUse(id: string): void {
    const grant = this.#store.get(id);
    if (grant !== undefined) this.#store.update({ ...grant, uses: grant.uses - 1 });
  }

  /** New grants that may cover requests which wait already. The caller compares them, and says so with `compared`. */
  fresh(): Grant[] {
    return this.#store.fresh();
  }

  compared(id: string): void {
    this.#store.compared(id);
  }

  get(id: string): Grant | undefined {
    return this.#store.get(id);
  }

  /** Grants in force, newest first. */
  inForce(): Grant[] {
    const now = this.#host.clock.now();
    return this.#store.list(1_000).filter((grant) => isInForce(grant, now));
  }

  /** All grants, newest first, also ended ones. */
  list(limit: number): Grant[] {
    return this.#store.list(limit);
  }

  /** Ends a grant. Returns `false` if it is over already, or there is none. */
  revoke(id: string, by: Decider): boolean {
    const now = this.#host.clock.now();
    const grant = this.#store.get(id);
    if (grant === undefined || !isInForce(grant, now)) return false;
    this.#store.update({ ...grant, revokedAt: now, revokedBy: by });
    return true;
  }

  /** Ends the grants of earlier revisions of a schedule. */
  endOutdated(now: ScheduleBinding): void {
    for (const { id, schedule } of this.inForce()) {
      if (schedule === undefined || !isSameSchedule(schedule, now)) continue;
      if (schedule.revision !== now.revision)
        this.revoke(id, { surface: "api", name: "a change of the schedule" });
    }
  }
}
