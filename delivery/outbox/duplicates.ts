import { entryOf, plannedRow } from "./outbox-entry.ts";
import type { OutboxStore } from "./outbox-store.ts";
import type { Reply } from "./reply.ts";

export interface DuplicateStores {
  readonly outbox: OutboxStore;
  /** The reply in memory that has this id. */
  readonly reply: (replyId: string) => Reply | undefined;
}

/** A message that shows once more what another one shows: it is taken away like any other surplus. */
export function addDuplicate(
  { reply: replyOf, outbox }: DuplicateStores,
  replyId: string,
  messageId: string,
): void {
  const reply = replyOf(replyId);
  const lowest = Math.min(0, ...(reply?.entries ?? []).map(({ row }) => row.part));
  const duplicate = entryOf({ ...plannedRow(replyId, lowest - 1), state: "sent", messageId });
  outbox.write(duplicate.row);
  reply?.entries.unshift(duplicate);
}
