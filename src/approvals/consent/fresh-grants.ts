import type { MessengerAuthor } from "../../core/chat/messenger-event.ts";
import { isLimited } from "../rules/allowance.ts";
import type { ConsentParts } from "./consent-parts.ts";

/** New grants, which may cover requests that wait already. */
export class FreshGrants {
  readonly #options: ConsentParts;

  constructor(options: ConsentParts) {
    this.#options = options;
  }

  /** Whether there are some that were not compared with what waits. */
  any(): boolean {
    return this.#options.grants.fresh().length > 0;
  }

  /** Approves the requests that wait and that new grants cover. A crash repeats it. */
  async cover(approved: () => void): Promise<void> {
    const { grants } = this.#options;
    for (const grant of grants.fresh()) {
      const { givenBy, id } = grant;
      // People look at the cards of those that wait, and a limited grant is not for what they have not decided.
      if (givenBy.person !== undefined && !isLimited(grant))
        await this.#coverWaiting(id, givenBy.person, approved);
      grants.compared(id);
    }
  }

  async #coverWaiting(grantId: string, person: MessengerAuthor, approved: () => void): Promise<void> {
    const { deciders, grants, host, stored } = this.#options;
    for (const { id } of stored.store.waiting()) {
      const asked = stored.store.get(id);
      if (asked === undefined || !grants.covering(asked).some((grant) => grant.id === grantId)) continue;
      if (!(await deciders.mayDecide(asked, { surface: "chat", person }))) continue;
      // The permission check took time, so the state is read again.
      const waiting = stored.store.get(id);
      const now = host.clock.now();
      if (waiting?.state !== "waiting" || now >= waiting.expiresAt) continue;
      const decidedBy = { surface: "grant", person, grantId } as const;
      grants.use(grantId, waiting, () =>
        stored.change(waiting, { state: "approved", decidedAt: now, decidedBy }),
      );
      approved();
    }
  }
}
