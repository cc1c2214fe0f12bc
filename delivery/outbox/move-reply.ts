import type { ChatPlace } from "../../src/core/chat-move.ts";
import type { Address } from "../../src/core/surface.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { OutboxRow } from "./outbox-store.ts";

/*
 * A chat goes on under another id. Nothing in the old chat can be changed, taken away or asked about any more, and its
 * message ids mean other messages in the new one. So of every open reply
 *
 * - what is visible and whole stays where it is (`formerChatId` of its row), and is part of the reply
 * - a message that is not whole stays too, and its part is posted in the new chat
 * - a lost post cannot be looked for: `onUnknown` decides
 * - nothing is quoted
 */

/** The address in whose place the chat goes on. */
export function movedAddress({ messengerId, isDirectMessage }: Address, to: ChatPlace): Address {
  return { messengerId, threadId: to.threadId, chatId: to.chatId, isDirectMessage };
}

/** The row of a message whose reply goes on in another chat. */
export function movedRow({ row, shownHash, strayEdit }: OutboxEntry, formerChatId: string): OutboxRow {
  return {
    ...row,
    // An edit that may still land leaves open what the message says.
    shownHash: strayEdit === undefined ? shownHash : undefined,
    formerChatId: row.messageId === undefined ? undefined : (row.formerChatId ?? formerChatId),
    doubt: row.state === "unknown" ? { kind: "unresolved" } : undefined,
    retryAt: undefined,
    failingSince: undefined,
  };
}

/** The entry stays the same object, so that a call under way finds it. */
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

/** The chat of a message that was sent to this address, where its reply has left it since. */
export function formerChatOf(address: Address, current: Address): string | undefined {
  return address.chatId === current.chatId ? undefined : address.chatId;
}
