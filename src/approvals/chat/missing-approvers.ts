import type { Approval } from "../rules/approval.ts";
import type { Approvals } from "../consent/approvals.ts";
import type { Approvers } from "./approvers.ts";

export interface MissingApproversOptions {
  readonly approvals: Pick<Approvals, "waiting" | "cancel">;
  readonly approvers: Pick<Approvers, "isNobodyLeft">;
  readonly onFailure: (error: unknown) => void;
}

/** Each question may ask the bot's code who may decide. */
const MOST_CHECKED = 20;

/**
 * Ends questions about which nobody may decide any more, because those who might have lost the permission or are not named
 * any more. People would wait for nothing until they expire.
 *
 * It looks at the newest questions once in every process, and at a question whenever somebody may not decide about it.
 */
export class MissingApprovers {
  readonly #options: MissingApproversOptions;
  #hasLooked = false;

  constructor(options: MissingApproversOptions) {
    this.#options = options;
  }

  /** Looks at what waits. Only the first call of a process does something. */
  lookOnce(): void {
    if (this.#hasLooked) return;
    this.#hasLooked = true;
    this.look(this.#options.approvals.waiting().slice(-MOST_CHECKED));
  }

  look(asked: readonly Pick<Approval, "id">[]): void {
    void this.#endThoseOf(asked).catch(this.#options.onFailure);
  }

  async #endThoseOf(asked: readonly Pick<Approval, "id">[]): Promise<void> {
    const { approvals, approvers } = this.#options;
    const ids = new Set(asked.map(({ id }) => id));
    const lost = new Set<string>();
    for (const approval of approvals.waiting())
      if (ids.has(approval.id) && (await approvers.isNobodyLeft(approval))) lost.add(approval.id);
    // Only those that still wait end.
    if (lost.size > 0) approvals.cancel(({ id }) => (lost.has(id) ? "approvers-missing" : undefined));
  }
}
