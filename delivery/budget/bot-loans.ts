import type { Clock } from "../../src/core/base/deps.ts";
import type { BotBudget, Loan, LoanRequest } from "../../src/core/chat/gate.ts";

interface Held {
  slots: number;
  readonly until: number;
}

/** Calls that the root has lent to this object, by messenger. Unused ones expire. */
export class BotLoans {
  readonly #root: BotBudget;
  readonly #clock: Clock;
  readonly #held = new Map<string, readonly Held[]>();

  constructor(root: BotBudget, clock: Clock) {
    this.#root = root;
    this.#clock = clock;
  }

  /** Takes one lent call. Returns false if none is left. */
  take(messengerId: string): boolean {
    const now = this.#clock.now();
    const held = (this.#held.get(messengerId) ?? []).filter(({ until, slots }) => until > now && slots > 0);
    this.#held.set(messengerId, held);
    const [first] = held;
    if (first === undefined) return false;
    first.slots -= 1;
    return true;
  }

  /** Asks the root for one call, to be made at once or not at all. Further calls of the loan are kept for `take`. */
  async borrow(request: LoanRequest): Promise<Loan> {
    const loan = await this.#root.lend(request);
    if (loan.kind === "wait" || loan.slots === 1) return loan;
    const held = this.#held.get(request.messengerId) ?? [];
    this.#held.set(request.messengerId, [...held, { slots: loan.slots - 1, until: loan.until }]);
    return loan;
  }
}
