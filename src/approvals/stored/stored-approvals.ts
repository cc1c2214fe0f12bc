import { isOpen } from "../rules/approval.ts";
import type { Approval, VoidReason } from "../rules/approval.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import { ApprovalStore } from "./approval-store.ts";

/** The stored approvals of one conversation. Every change of one goes through here, and so does every drawing of a card. */
export class StoredApprovals {
  readonly store: ApprovalStore;
  readonly #host: Pick<ApprovalHost, "clock" | "draw" | "showApart">;

  constructor(host: Pick<ApprovalHost, "database" | "clock" | "draw" | "showApart">) {
    this.#host = host;
    this.store = new ApprovalStore(host.database);
  }

  change({ id }: Approval, change: Partial<Approval>): Approval {
    const stored = this.store.get(id);
    if (stored === undefined) throw new TypeError("The approval is not stored.");
    const hasEnded = change.state !== undefined && !isOpen(change.state);
    const changed: Approval = {
      ...stored,
      ...change,
      ...(hasEnded && { endedAt: this.#host.clock.now() }),
    };
    this.store.update(changed);
    return changed;
  }

  /** Ends waiting approvals that can never run. Returns whether there were some. Their cards and turns follow with the next `ApprovalWork.run`. */
  cancel(why: (approval: Approval) => VoidReason | undefined): boolean {
    let isAny = false;
    for (const approval of this.store.waiting()) {
      const reason = why(approval);
      if (reason === undefined) continue;
      this.change(approval, { state: "void", reason });
      isAny = true;
    }
    return isAny;
  }

  /** Puts questions on one card, that of the first one. Only inside a transaction. */
  bringTogether(questions: readonly Approval[]): void {
    const [first] = questions;
    if (first === undefined) return;
    for (const one of questions) this.change(one, { together: first.id });
    this.draw({ ...first, together: first.id });
  }

  /** Gives each approval of a card a card of its own. Only inside a transaction. */
  showApart(first: Approval): void {
    const apart = this.store.together(first).map((one) => this.change(one, { together: undefined }));
    this.#host.showApart?.(apart);
  }

  /** Draws a state that the card does not show yet. Only inside a transaction. */
  draw(approval: Approval): void {
    const stored = this.store.get(approval.id);
    if (stored?.drawnState === approval.state) return;
    const all = stored === undefined ? [approval] : this.store.together(stored);
    const together = all.map((one) => (one.id === approval.id ? approval : one));
    this.#host.draw(approval, together);
    const isOver = approval.state !== "waiting";
    this.change(approval, { drawnState: approval.state, ...(isOver && { edit: undefined }) });
    // The same card shows the others.
    for (const other of together)
      if (other.id !== approval.id && other.state === "waiting" && other.drawnState === undefined)
        this.change(other, { drawnState: other.state });
  }
}
