import type { OutboxEntry } from "./outbox-entry.ts";
import type { OutboxRow, OutboxStore } from "./outbox-store.ts";
import { mostDoubts } from "./call-policy.ts";
import { isSearchable } from "./lost-posts/doubt.ts";
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
  const most = mostDoubts(policy.onUnknown ?? "resend-marked", canProbe);
  const adopted = entries
    .filter(({ row }) => isWorthAdopting(row, most) || isWorthAsking(row, canProbe))
    .sort((left, right) => left.row.part - right.row.part);
  let part = 0;
  let surplus = Math.min(0, ...adopted.map(({ row }) => row.part));
  for (const entry of adopted) {
    outbox.delete(entry.row);
    const { row } = entry;
    const isPart = row.part >= 0 && isWorthAdopting(row, most);
    const place = isPart ? part : row.part < 0 ? row.part : surplus - 1;
    // What a person has deleted of another answer says nothing about this one.
    entry.row = { ...row, replyId, part: place, shownHash: undefined, isReplacement: false };
    if (isPart) part += 1;
    surplus = Math.min(surplus, place);
    outbox.write(entry.row);
  }
  return adopted;
}

/** A lost message that will not be said again: when it is found it is surplus. */
function isWorthAsking(row: OutboxRow, canProbe: boolean): boolean {
  return canProbe && row.state === "unknown" && isSearchable(row.doubt);
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
