import type { Delivery, DeliveryReceipt } from "../../core/chat/delivery.ts";

/** Drops a message that has not been sent yet, because it would arrive too late. */
export function withdrawUnsent(delivery: Pick<Delivery, "receipt" | "withdraw">, replyId: string): void {
  if (!hasBegun(delivery.receipt(replyId))) delivery.withdraw(replyId);
}

/** Tells whether any part of a reply is visible, or may be. */
export function hasBegun(receipt: DeliveryReceipt | undefined): boolean {
  return receipt?.messages.some(({ state }) => state !== "planned" && state !== "removed") === true;
}
