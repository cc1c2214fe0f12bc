import type { IfDeleted } from "../../src/core/delivery.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { OutboxRow, OutboxStore } from "./outbox-store.ts";

/**
 * Prepares the rows of a card for its next revision. A message that could not be posted is tried again. A message that
 * a person has deleted is posted again if `ifDeleted` says so. A message in a chat that has moved since stays behind.
 * The entries stay the same objects, for calls under way.
 */
export function reopenRows(
  outbox: OutboxStore,
  entries: readonly OutboxEntry[],
  ifDeleted: IfDeleted,
): OutboxEntry[] {
  return entries.filter((entry) => {
    const { row } = entry;
    const isWanted = row.state === "removed" && row.code !== undefined && ifDeleted === "post";
    if (isWanted || (row.state === "failed" && row.messageId === undefined)) {
      outbox.delete(row);
      return false;
    }
    const isLeftBehind = row.formerChatId !== undefined;
    const next: OutboxRow = {
      ...row,
      isReplacement: false,
      // A revision is shown in the chat of today, also one that is equal to the message in the former chat.
      ...(isLeftBehind && { shownHash: undefined }),
      // The message may show half of an earlier revision.
      ...(row.state === "failed" && { state: "sent", shownHash: undefined, code: undefined }),
    };
    if (next.state !== row.state || row.isReplacement || isLeftBehind) outbox.write(next);
    entry.row = next;
    if (isLeftBehind) entry.shownHash = undefined;
    return true;
  });
}
