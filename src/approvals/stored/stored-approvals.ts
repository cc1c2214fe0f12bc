import { isOpen } from "../rules/approval.ts";
import type { Approval, VoidReason } from "../rules/approval.ts";
import type { ApprovalHost } from "../rules/approval-host.ts";
import { ApprovalStore } from "./approval-store.ts";

/** The stored approvals of one conversation. Every change of one goes through here, and so does every drawing of a card. */
export class StoredApprovals {
  readonly store: ApprovalStore;
  readonly #host: Pick<ApprovalHost, "clock" | "draw">;

  constructor(host: Pick<ApprovalHost, "database" | "clock" | "draw">) {
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

  /** Draws a state that the card does not show yet. Only inside a transaction. */
  draw(approval: Approval): void {
    if (this.store.get(approval.id)?.drawnState === approval.state) return;
    this.#host.draw(approval);
    this.change(approval, { drawnState: approval.state });
  }
}
