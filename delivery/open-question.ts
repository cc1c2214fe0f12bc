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

/** A post that was taken for not made, because it was not there yet, may have landed after this message. */
export function isLateQuestion({ state, lateUntil }: OutboxRow): boolean {
  return state === "sent" && lateUntil !== undefined;
}
