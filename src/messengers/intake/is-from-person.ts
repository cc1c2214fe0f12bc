import type { MessengerEvent } from "../../core/messenger-event.ts";

/**
 * Tells whether the event shows that somebody reads the chat. Then a chat that counted as gone may be written to again.
 */
export function isFromPerson(event: MessengerEvent): boolean {
  return (
    event.message !== undefined ||
    event.action !== undefined ||
    event.reaction !== undefined ||
    (event.kind === "membership" && event.detail !== "blocked" && event.detail !== "removed")
  );
}
