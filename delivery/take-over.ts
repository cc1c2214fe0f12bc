import type { OutboxEntry } from "./outbox-entry.ts";
import type { OutboxRow, OutboxStore } from "./outbox-store.ts";
import { mostDoubts } from "./call-policy.ts";
import type { ReplyRecord } from "./reply-store.ts";

/**
 * Makes the messages of a withdrawn reply those of another one. The entries stay the same objects, so that a call
 * under way finds its row. Messages that are not there any more stay with the old reply, and the rest close ranks.
 */
export function adoptMessages(
  outbox: OutboxStore,
  { id: replyId, policy }: ReplyRecord,
  entries: readonly OutboxEntry[],
  canProbe: boolean,
): OutboxEntry[] {
  const adopted = entries
    .filter(({ row }) => isWorthAdopting(row, mostDoubts(policy.onUnknown ?? "resend-marked", canProbe)))
    .sort((left, right) => left.row.part - right.row.part);
  let part = 0;
  for (const entry of adopted) {
    outbox.delete(entry.row);
    const isDuplicate = entry.row.part < 0;
    entry.row = { ...entry.row, replyId, part: isDuplicate ? entry.row.part : part, shownHash: undefined };
    if (!isDuplicate) part += 1;
    outbox.write(entry.row);
  }
  return adopted;
}

function isWorthAdopting(row: OutboxRow, most: number): boolean {
  switch (row.state) {
    case "sent":
    case "sending":
    case "planned":
      return true;
    case "unknown":
      return row.doubts < most;
    case "removed":
    case "failed":
      return false;
    default:
      return row.state satisfies never;
  }
}
