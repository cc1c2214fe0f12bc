import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { OutboxRow, OutboxStore } from "../outbox/outbox-store.ts";
import { mostDoubts } from "../calls/call-policy.ts";
import { isSearchable } from "../outbox/doubt.ts";
import type { ReplyRecord } from "../outbox/reply-store.ts";

/**
 * Gives the messages of a withdrawn reply to another reply. The entries stay the same objects, so that a call under way
 * finds its row. Messages that no longer exist stay with the old reply, and the others close the gaps.
 */
export function adoptMessages(
  outbox: OutboxStore,
  { id: replyId, policy }: ReplyRecord,
  entries: readonly OutboxEntry[],
  canSearch: boolean,
): OutboxEntry[] {
  const most = mostDoubts(policy.onUnknown ?? "resend-marked", canSearch);
  const adopted = entries
    .filter(
      ({ row }) =>
        row.state === "sending" || isWorthAdopting(row, most, canSearch) || isWorthAsking(row, canSearch),
    )
    .sort((left, right) => left.row.part - right.row.part);
  let part = 0;
  let surplus = Math.min(0, ...adopted.map(({ row }) => row.part));
  for (const entry of adopted) {
    outbox.delete(entry.row);
    const { row } = entry;
    const isPart = row.part >= 0 && isWorthAdopting(row, most, canSearch);
    const place = isPart ? part : row.part < 0 ? row.part : surplus - 1;
    // A person's deletion in the old answer does not count for the new one.
    entry.row = { ...row, replyId, part: place, shownHash: undefined, isReplacement: false };
    if (isPart) part += 1;
    surplus = Math.min(surplus, place);
    outbox.write(entry.row);
  }
  return adopted;
}

/**
 * Tells whether a lost message should still be searched for. It will not be sent again, so it is surplus if it is
 * found.
 */
function isWorthAsking(row: OutboxRow, canSearch: boolean): boolean {
  return canSearch && row.state === "unknown" && isSearchable(row.doubt);
}

function isWorthAdopting(row: OutboxRow, most: number, canSearch: boolean): boolean {
  switch (row.state) {
    case "sent":
      return row.formerChatId === undefined;
    case "planned":
      return true;
    case "sending":
      // If the policy does not send a lost post again, the new text would have no message. Then this post is surplus.
      return (canSearch && row.doubt !== undefined) || row.doubts + 1 < most;
    case "unknown":
      return row.doubts < most;
    case "removed":
    case "failed":
      return false;
    default:
      return row.state satisfies never;
  }
}
