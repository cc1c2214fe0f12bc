import type { Address } from "../src/core/surface.ts";
import type { DeliveryContext } from "./delivery-context.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { OutboxRow } from "./outbox-store.ts";

/** Whether the row's last post, or one before it, is a question that probing may answer. */
export function isOpenQuestion(row: OutboxRow): boolean {
  if (row.state === "unknown") return row.afterId !== undefined && row.isAmbiguous !== true;
  return isGapQuestion(row);
}

/** Between the last id that was asked about and the message's own, the message may be there once more. */
export function isGapQuestion({ state, messageId, probedTo }: OutboxRow): boolean {
  return state === "sent" && probedTo !== undefined && Number(messageId) > probedTo + 1;
}

/**
 * A post that was taken for not made, because it was not there yet, may have landed since: after the message that was
 * made anew, or instead of one that is not needed any more, whose id would have shown how far the search had to go.
 */
export function isLateQuestion({ state, lateUntil, probedTo }: OutboxRow): boolean {
  if (state === "planned" && probedTo !== undefined) return true;
  return state !== "sending" && state !== "unknown" && lateUntil !== undefined;
}

/** Whether all is visible, and nothing but what may have landed since is asked. */
export function isOnlyLateQuestion(row: OutboxRow): boolean {
  return !isOpenQuestion(row) && isLateQuestion(row);
}

/**
 * Whether another post of the chat is under way or looked for, so that more is known soon about a message that is found.
 * It must not be taken away before.
 */
export function isOtherPostOpen(
  context: Pick<DeliveryContext, "otherRows">,
  entry: OutboxEntry,
  address: Address,
): boolean {
  return context
    .otherRows(entry, address)
    .some((row) => row.state === "sending" || (row.state === "unknown" && isOpenQuestion(row)));
}

/** Whether another post of the chat was lost for good: nobody looks for it, and a message that is found may be its. */
export function isOtherPostLeft(
  context: Pick<DeliveryContext, "otherRows">,
  entry: OutboxEntry,
  address: Address,
): boolean {
  return context.otherRows(entry, address).some((row) => row.state === "unknown" && !isOpenQuestion(row));
}

/** Whether a message that is found may be a late one of another post, so that the entry's own may be to come. */
export function isOtherPostLate(
  context: Pick<DeliveryContext, "otherRows">,
  entry: OutboxEntry,
  address: Address,
): boolean {
  return context
    .otherRows(entry, address)
    .some(({ state, lateUntil }) => lateUntil !== undefined || state === "sending" || state === "unknown");
}
