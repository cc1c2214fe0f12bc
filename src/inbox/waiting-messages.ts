import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import type { InboxRow, InboxStore } from "./inbox-store.ts";

/**
 * Time that a message waits for the rest of it: pictures of an album, or the second half of a paste that the client
 * split.
 */
const HOLD_MS = 1000;
/** Clients split pastes at the platform's limit; a text this long may have a second half. */
const LONG_TEXT_LENGTH = 4000;

/** Queues a message. If it may be incomplete, it is held, and the pictures of its album with it. */
export function queueMessage(inbox: InboxStore, row: InboxRow, event: MessengerEvent, now: number): void {
  const albumId = event.message?.albumId;
  const isHeld = albumId !== undefined || (event.message?.text.length ?? 0) >= LONG_TEXT_LENGTH;
  const readyAt = isHeld ? now + HOLD_MS : 0;
  const album = inbox.inState("queued").filter((queued) => isOfAlbum(queued, albumId));
  inbox.queue(row.seq, event, readyAt);
  inbox.hold(
    album.map((queued) => queued.seq),
    readyAt,
  );
}

/** Returns the queued message that an edit or a deletion belongs to. */
export function waitingMessage(inbox: InboxStore, event: MessengerEvent): InboxRow | undefined {
  return inbox.inState("queued").find((queued) => isOfMessage(event, queued.event));
}

/** Whether an edit or a deletion belongs to a message. */
export function isOfMessage(change: MessengerEvent, of: MessengerEvent | undefined): boolean {
  return (
    of?.messengerId === change.messengerId &&
    of.thread.chatId === change.thread.chatId &&
    of.thread.formerChatId === change.thread.formerChatId &&
    of.message?.id === change.message?.id
  );
}

/**
 * Tells whether a picture belongs to an album that addresses the bot. In a group only one picture carries the caption.
 */
export function completesAlbum(inbox: InboxStore, event: MessengerEvent): boolean {
  const albumId = event.message?.albumId;
  if (event.kind !== "message" || albumId === undefined) return false;
  return [...inbox.inState("queued"), ...inbox.inState("taken")].some(
    (row) => isOfAlbum(row, albumId) && row.event?.thread.id === event.thread.id,
  );
}

function isOfAlbum(row: InboxRow, albumId: string | undefined): boolean {
  return albumId !== undefined && row.event?.message?.albumId === albumId;
}
