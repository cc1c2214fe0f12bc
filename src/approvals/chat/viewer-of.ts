import type { MessengerAuthor, MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { ApprovalViewer } from "../root/approval-calls.ts";

/** Returns the person who looks at requests from the chat of an event. */
export function viewerOf(
  { messengerId, thread }: MessengerEvent,
  person: MessengerAuthor | undefined,
): ApprovalViewer {
  return { person, messengerId, thread };
}
