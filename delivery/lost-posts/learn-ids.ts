import type { Surface } from "../../src/core/surface.ts";
import type { GateClient } from "../budget/gate-client.ts";
import type { Reply } from "../outbox/reply.ts";

/** Tells what a reply knows of the message box by itself: the root may have been started since. */
export function learnIds(budget: GateClient, { entries, record }: Reply, surface: Surface): void {
  const own = entries.filter(({ row }) => row.formerChatId === undefined);
  const ids = own.flatMap(({ row }) => [row.messageId, ...(row.moreIds ?? [])]);
  for (const id of [record.seenMessageId, ...ids]) {
    if (id !== undefined) budget.knows(record.address, surface, id);
  }
}
