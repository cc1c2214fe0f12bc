import type { ChatPlace } from "../../src/core/chat/chat-move.ts";
import type { Address } from "../../src/core/chat/surface.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { OutboxRow } from "./outbox-store.ts";
import type { ReplyRecord } from "./reply-store.ts";

/*
 * Moves replies of a chat that continues under another id. Nothing in the old chat can be changed, removed or searched
 * for any more, and its message ids mean other messages in the new chat. So for every open reply:
 *
 * - Visible and whole messages stay in the old chat (`formerChatId` of the row) and belong to the reply.
 * - A message that is not whole stays too, and its part is posted in the new chat.
 * - A lost post cannot be searched for: `onUnknown` decides.
 * - Nothing is quoted.
 */

/** Returns the address in the new chat. */
export function movedAddress({ messengerId, isDirectMessage }: Address, to: ChatPlace): Address {
  return { messengerId, threadId: to.threadId, chatId: to.chatId, isDirectMessage };
}

/** Returns the row of a message whose reply continues in another chat. */
export function movedRow({ row, shownHash, strayEdit }: OutboxEntry, formerChatId: string): OutboxRow {
  return {
    ...row,
    // A late edit may still change the message, so its text is not certain.
    shownHash: strayEdit === undefined ? shownHash : undefined,
    formerChatId: row.messageId === undefined ? undefined : (row.formerChatId ?? formerChatId),
    doubt: row.state === "unknown" ? { kind: "unresolved" } : undefined,
    retryAt: undefined,
    failingSince: undefined,
  };
}

/** Changes the entry in place, so that a call under way still finds it. */
export function moveEntry(entry: OutboxEntry, row: OutboxRow): void {
  entry.row = row;
  entry.shownHash = row.shownHash;
  entry.strayEdit = undefined;
  entry.probe = undefined;
  entry.isLookDue = false;
  entry.interimFailingSince = undefined;
  entry.skippedHash = undefined;
  entry.stream = undefined;
}

/** Returns the chat of a message that was sent to this address, if its reply has moved to another chat since. */
export function formerChatOf(address: Address, current: Address): string | undefined {
  return address.chatId === current.chatId ? undefined : address.chatId;
}

/**
 * Whether a card has moved and was revised while a call was under way. Its revision is shown in the chat of today,
 * whatever the call showed in the former one.
 */
export function isRevisedElsewhere(before: ReplyRecord, today: ReplyRecord): boolean {
  return formerChatOf(before.address, today.address) !== undefined && before.body !== today.body;
}
