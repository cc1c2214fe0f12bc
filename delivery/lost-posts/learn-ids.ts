import type { Surface } from "../../src/core/chat/surface.ts";
import type { GateClient } from "../budget/gate-client.ts";
import type { Reply } from "../outbox/reply.ts";

/** Reports the message ids of a reply to the root, which may have been restarted since. */
export function learnIds(budget: GateClient, { entries, record }: Reply, surface: Surface): void {
  const own = entries.filter(({ row }) => row.formerChatId === undefined);
  const ids = own.flatMap(({ row }) => [row.messageId, ...(row.moreIds ?? [])]);
  for (const id of [record.seenMessageId, ...ids]) {
    if (id !== undefined) budget.knows(record.address, surface, id);
  }
}
