import { RpcTarget } from "cloudflare:workers";
import type { Delivery, DeliveryFilter, DeliveryReceipt } from "../../core/chat/delivery.ts";

/** The receipts of one conversation's replies, notices and reactions: `this.deliveries`, and `stub.deliveries` over RPC. */
export class BotDeliveries extends RpcTarget {
  readonly #delivery: Pick<Delivery, "receipt" | "receipts">;

  constructor(delivery: Pick<Delivery, "receipt" | "receipts">) {
    super();
    this.#delivery = delivery;
  }

  /**
   * Returns receipts, newest first: states, platform message ids, attempts, times and codes, never a text. Kept for
   * `keepDeliveriesMs`.
   *
   * @example await stub.deliveries.list({ state: "failed", since: Date.now() - 86_400_000 });
   */
  list(filter: DeliveryFilter = {}): DeliveryReceipt[] {
    return this.#delivery.receipts(filter);
  }

  /** Returns the receipt of one message, by the id that `say` or `react` returned. Undefined if there is none, or it was deleted. */
  get(id: string): DeliveryReceipt | undefined {
    return this.#delivery.receipt(id);
  }
}
