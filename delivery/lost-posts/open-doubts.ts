import type { ChatKey } from "../../src/core/gate.ts";
import type { Address } from "../../src/core/surface.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import { isSearchable } from "../outbox/doubt.ts";
import type { Reply } from "../outbox/reply.ts";

export interface OpenDoubt {
  readonly entry: OutboxEntry;
  readonly address: Address;
}

/** Returns the posts into a chat that are in doubt and can be searched for. */
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
