import type { OutboxRow } from "./outbox-store.ts";

/** Whether the row's last post, or one before it, is a question that probing may answer. */
export function isOpenQuestion({ state, afterId, isAmbiguous, messageId, probedTo }: OutboxRow): boolean {
  if (state === "unknown") return afterId !== undefined && isAmbiguous !== true;
  return state === "sent" && probedTo !== undefined && Number(messageId) > probedTo + 1;
}
