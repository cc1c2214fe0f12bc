import type { MessengerEvent } from "../../core/messenger-event.ts";

/** Whether the event shows that somebody reads the chat: what ended as gone may be written to again. */
export function isFromPerson(event: MessengerEvent): boolean {
  return (
    event.message !== undefined ||
    event.action !== undefined ||
    event.reaction !== undefined ||
    (event.kind === "membership" && event.detail !== "blocked" && event.detail !== "removed")
  );
}
