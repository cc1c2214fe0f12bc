import type { DeliveryContext } from "../calls/delivery-context.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";

/**
 * Handles a restarted model call where messages cannot be edited. Its posted messages from `first` on are no longer
 * parts. The new text is posted after them, and they are removed at the end if the platform allows it.
 */
export function supersede(context: DeliveryContext, reply: Reply, first: OutboxEntry): void {
  const from = first.row.part;
  const old = reply.entries.filter(({ row }) => row.state === "sent" && row.part >= from);
  const lowest = Math.min(0, ...reply.entries.map(({ row }) => row.part));
  const moved = old.map(({ row }, index) => ({ ...row, part: lowest - 1 - index }));
  context.database.transaction(() => {
    for (const { row } of old) context.outbox.delete(row);
    for (const row of moved) context.outbox.write(row);
  });
  for (const [index, entry] of old.entries()) entry.row = moved[index] ?? entry.row;
}
