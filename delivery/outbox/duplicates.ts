import { entryOf, plannedRow } from "./outbox-entry.ts";
import type { OutboxStore } from "./outbox-store.ts";
import type { Reply } from "./reply.ts";

export interface DuplicateStores {
  readonly outbox: OutboxStore;
  readonly replies: { get(replyId: string): Reply | undefined };
}

/** Adds a message that repeats another one. It is removed like any other surplus message. */
export function addDuplicate({ outbox, replies }: DuplicateStores, replyId: string, messageId: string): void {
  const reply = replies.get(replyId);
  const lowest = Math.min(0, ...(reply?.entries ?? []).map(({ row }) => row.part));
  const duplicate = entryOf({ ...plannedRow(replyId, lowest - 1), state: "sent", messageId });
  outbox.write(duplicate.row);
  reply?.entries.unshift(duplicate);
}
