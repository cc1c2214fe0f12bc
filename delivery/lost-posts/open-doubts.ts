import type { ChatKey } from "../../src/core/gate.ts";
import type { Address } from "../../src/core/surface.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { isSearchable } from "../outbox/doubt.ts";
import type { Reply } from "../outbox/reply.ts";

export interface OpenDoubt {
  readonly entry: OutboxEntry;
  readonly address: Address;
}

/** Posts into a chat of which it is not known whether they were made, and of which that will be found out. */
export function openDoubts(replies: Iterable<Reply>, { messengerId, chatId }: ChatKey): readonly OpenDoubt[] {
  const found: OpenDoubt[] = [];
  for (const { entries, isOpen, record } of replies) {
    const { address } = record;
    if (address.chatId !== chatId || address.messengerId !== messengerId) continue;
    for (const entry of entries) {
      const { state, doubt } = entry.row;
      const isSearched = isOpen && state === "unknown" && isSearchable(doubt);
      if (state === "sending" || isSearched) found.push({ entry, address });
    }
  }
  return found;
}
