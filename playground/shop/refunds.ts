import { ORDERS } from "./orders.ts";

export interface Refund {
  readonly id: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: "EUR";
  readonly status: "refunded";
}

/** The shop's answer to a request. */
export interface Answer {
  readonly status: number;
  readonly answer: unknown;
}

/** The shop's refunds. The same key makes one refund, however often it is asked for. */
export class Refunds {
  readonly #byKey = new Map<string, Refund>();

  all(): readonly Refund[] {
    return [...this.#byKey.values()];
  }

  /** How much of an order was refunded, in cents. */
  of(orderId: string): number {
    const refunds = this.all().filter((refund) => refund.orderId === orderId);
    return refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
  }

  create(key: string | string[] | undefined, body: unknown): Answer {
    if (typeof key !== "string") return refused(400, "A refund needs an idempotency-key.");
    const { amountCents, orderId } = (body ?? {}) as {
      readonly amountCents?: unknown;
      readonly orderId?: unknown;
    };
    const order = ORDERS.find(({ id }) => id === orderId);
    if (order === undefined) return refused(404, "There is no order with this number.");
    if (typeof amountCents !== "number" || !Number.isInteger(amountCents) || amountCents <= 0)
      return refused(400, "The amount must be a positive number of cents.");
    const earlier = this.#byKey.get(key);
    if (earlier !== undefined) {
      const isSame = earlier.orderId === order.id && earlier.amountCents === amountCents;
      return isSame ? { status: 200, answer: earlier } : refused(409, "This key belongs to another refund.");
    }
    if (amountCents > order.totalCents - this.of(order.id))
      return refused(409, "That is more than what was paid for this order.");
    const id = `R-${this.#byKey.size + 1}`;
    const refund: Refund = { id, orderId: order.id, amountCents, currency: "EUR", status: "refunded" };
    this.#byKey.set(key, refund);
    return { status: 201, answer: refund };
  }
}

export function refused(status: number, error: string): Answer {
  return { status, answer: { error } };
}
