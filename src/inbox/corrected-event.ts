import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import type { InboxRow } from "./inbox-store.ts";

/** Returns a message with its edited text. A command in the edit is left out, because it must not run. */
export function correctedEvent(original: InboxRow, edit: MessengerEvent): MessengerEvent {
  if (edit.message === undefined || original.event?.message === undefined) return original.event ?? edit;
  const { command: _command, ...message } = edit.message;
  const { albumId, sentAt } = original.event.message;
  return { ...original.event, message: { ...message, albumId, sentAt } };
}
