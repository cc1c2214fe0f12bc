import type { MessengerEvent } from "../core/messenger-event.ts";
import type { InboxRow } from "./inbox-store.ts";

/** A message with its edited text. What came with the edit but would run something, a command, is left out. */
export function correctedEvent(original: InboxRow, edit: MessengerEvent): MessengerEvent {
  if (edit.message === undefined || original.event?.message === undefined) return original.event ?? edit;
  const { command: _command, ...message } = edit.message;
  const { albumId, sentAt } = original.event.message;
  return { ...original.event, message: { ...message, albumId, sentAt } };
}
