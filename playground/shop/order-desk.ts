import { ORDERS, type Order } from "./orders.ts";
import type { Answer, Refunds } from "./refunds.ts";
import { refused } from "./refunds.ts";

/** An order as the shop shows it. Addresses are never shown: everybody who knows a number may ask for its order. */
type ShownOrder = Omit<Order, "picture"> & { readonly picture?: string; readonly refundedCents?: number };

/** The shop's orders. They are cancelled and sent elsewhere only while they are still in the shop. */
export class OrderDesk {
  readonly #orders = new Map(ORDERS.map((order) => [order.id, order]));
  readonly #addresses = new Map<string, string>();
  readonly #returns = new Map<string, { readonly reason: string; readonly photo: string }>();
  readonly #refunds: Refunds;
  readonly #pictureOf: (order: Order) => string | undefined;

  constructor(refunds: Refunds, pictureOf: (order: Order) => string | undefined) {
    this.#refunds = refunds;
    this.#pictureOf = pictureOf;
  }

  all(): readonly ShownOrder[] {
    return [...this.#orders.values()].map((order) => this.#shown(order));
  }

  get(id: string): Answer {
    const order = this.#orders.get(id);
    return order === undefined ? unknownOrder() : { status: 200, answer: this.#shown(order) };
  }

  /** A second request is answered like the first one. */
  cancel(id: string): Answer {
    const order = this.#orders.get(id);
    if (order === undefined) return unknownOrder();
    if (order.status === "cancelled") return { status: 200, answer: this.#shown(order) };
    if (order.status !== "processing")
      return refused(409, `It is ${order.status}, so it can't be cancelled.`);
    const cancelled = { ...order, status: "cancelled", note: "Cancelled by the customer." } as const;
    this.#orders.set(id, cancelled);
    return { status: 200, answer: this.#shown(cancelled) };
  }

  changeAddress(id: string, body: unknown): Answer {
    const order = this.#orders.get(id);
    if (order === undefined) return unknownOrder();
    const { address } = (body ?? {}) as { readonly address?: unknown };
    if (typeof address !== "string" || address.trim().length < 5)
      return refused(400, "An address has at least five characters.");
    if (order.status !== "processing")
      return refused(409, `It is ${order.status}, so its address can't be changed.`);
    this.#addresses.set(id, address);
    return { status: 200, answer: { id, status: order.status, addressChanged: true } };
  }

  /** Notes that a customer sends an order back. A second request is answered like the first one. */
  takeBack(id: string, body: unknown): Answer {
    const order = this.#orders.get(id);
    if (order === undefined) return unknownOrder();
    const { photo, reason } = (body ?? {}) as { readonly photo?: unknown; readonly reason?: unknown };
    if (typeof reason !== "string" || typeof photo !== "string" || photo === "")
      return refused(400, "A return needs a reason and a photo.");
    if (this.#returns.has(id)) return { status: 200, answer: this.#shown(order) };
    if (order.status !== "delivered") return refused(409, `It is ${order.status}, so it can't be returned.`);
    const returned = { ...order, status: "returned", note: `Sent back by the customer: ${reason}.` } as const;
    this.#returns.set(id, { reason, photo });
    this.#orders.set(id, returned);
    return { status: 200, answer: this.#shown(returned) };
  }

  /** What a customer has said about a returned order, for tests. `photo` is base64. */
  returnOf(id: string): { readonly reason: string; readonly photo: string } | undefined {
    return this.#returns.get(id);
  }

  /** The address that a customer has asked for, for tests. */
  addressOf(id: string): string | undefined {
    return this.#addresses.get(id);
  }

  /** The goods of the shop, each once. */
  products(): readonly { readonly name: string; readonly priceCents: number }[] {
    const items = ORDERS.flatMap((order) => order.items);
    const prices = new Map(items.map(({ name, priceCents }) => [name, priceCents]));
    return [...prices].map(([name, priceCents]) => ({ name, priceCents }));
  }

  #shown({ picture: _picture, ...order }: Order): ShownOrder {
    const picture = this.#pictureOf({ picture: _picture, ...order });
    const refundedCents = this.#refunds.of(order.id);
    return {
      ...order,
      ...(picture !== undefined && { picture }),
      ...(refundedCents > 0 && { refundedCents }),
    };
  }
}

function unknownOrder(): Answer {
  return refused(404, "There is no order with this number.");
}
