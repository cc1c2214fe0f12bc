import type { Clock } from "../../src/core/deps.ts";
import type { BotBudget, Loan, LoanRequest } from "../../src/core/gate.ts";

interface Held {
  slots: number;
  readonly until: number;
}

/** The calls that the root has lent to one object, by messenger. Unused ones lapse. */
export class BotLoans {
  readonly #root: BotBudget;
  readonly #clock: Clock;
  readonly #held = new Map<string, readonly Held[]>();

  constructor(root: BotBudget, clock: Clock) {
    this.#root = root;
    this.#clock = clock;
  }

  /** Uses one call. `false` when there is none. */
  take(messengerId: string): boolean {
    const now = this.#clock.now();
    const held = (this.#held.get(messengerId) ?? []).filter(({ until, slots }) => until > now && slots > 0);
    this.#held.set(messengerId, held);
    const [first] = held;
    if (first === undefined) return false;
    first.slots -= 1;
    return true;
  }

  /** Asks for one call, which is made at once or not at all; what is lent beside it is kept. */
  async borrow(request: LoanRequest): Promise<Loan> {
    const loan = await this.#root.lend(request);
    if (loan.kind === "wait" || loan.slots === 1) return loan;
    const held = this.#held.get(request.messengerId) ?? [];
    this.#held.set(request.messengerId, [...held, { slots: loan.slots - 1, until: loan.until }]);
    return loan;
  }
}
