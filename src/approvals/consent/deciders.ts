import type { Approval, Decider } from "../rules/approval.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import type { StoredApprovals } from "../stored/stored-approvals.ts";

/** Each question may ask the bot's code who may decide. */
const MOST_CHECKED = 20;

/**
 * Tells who may decide, and ends questions about which nobody may decide any more, because those who might have lost the
 * permission or are not named any more. People would wait for nothing until they expire. Deputies are asked first.
 *
 * It looks at the newest questions once in every process, and at a question whenever somebody may not decide about it.
 */
export class Deciders {
  readonly #host: ApprovalHost;
  readonly #stored: StoredApprovals;
  #hasLooked = false;

  constructor(host: ApprovalHost, stored: StoredApprovals) {
    this.#host = host;
    this.#stored = stored;
  }

  /** Tells whether a person may decide, asked now. */
  async mayDecide(approval: Approval, decider: Decider): Promise<boolean> {
    const mayDecide = await this.#host.mayDecide(approval, decider);
    if (!mayDecide) this.#look([approval]);
    return mayDecide;
  }

  /** Looks at what waits. Only the first call of a process does something. */
  lookOnce(): void {
    if (this.#hasLooked) return;
    this.#hasLooked = true;
    this.#look(this.#stored.store.waiting().slice(-MOST_CHECKED));
  }

  #look(asked: readonly Approval[]): void {
    this.#endThoseOf(asked).catch((error: unknown) => this.#host.onFailure(error));
  }

  async #endThoseOf(asked: readonly Approval[]): Promise<void> {
    const ids = new Set(asked.map(({ id }) => id));
    const lost = new Set<string>();
    for (const approval of this.#stored.store.waiting())
      if (ids.has(approval.id) && (await this.#host.isNobodyLeft(approval))) lost.add(approval.id);
    const now = this.#host.clock.now();
    const toEscalate = this.#stored.store
      .waiting()
      .filter((approval) => lost.has(approval.id) && canEscalate(approval));
    for (const approval of toEscalate) {
      lost.delete(approval.id);
      this.#stored.change(approval, { escalateAt: now });
    }
    // Only those that still wait end.
    const hasEnded = this.#stored.cancel(({ id }) => (lost.has(id) ? "approvers-missing" : undefined));
    if (hasEnded || toEscalate.length > 0) this.#host.onChange();
  }
}

/** Whether deputies can be asked, and have not been. */
function canEscalate({ escalatedAt, escalateTo }: Approval): boolean {
  return escalateTo !== undefined && escalatedAt === undefined;
}
