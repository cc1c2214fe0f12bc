import type { Delivery } from "../../core/chat/delivery.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";

/** Detail of the service message that somebody has reopened a topic. */
const REOPENED = "topic reopened";

/**
 * Starts deliveries to a chat again that counted as gone, if an event shows that somebody reads it. Answers that wait
 * for its thread continue. Ignored messages do not show that the bot may write there: a group may allow it people only.
 */
export function comesBack(
  delivery: Pick<Delivery, "resume" | "revive">,
  event: MessengerEvent,
  isIgnored: boolean,
): void {
  const { detail, kind, messengerId, thread } = event;
  const { chatId, id: threadId } = thread;
  const isFromPerson = isOfPerson(event);
  if (isFromPerson) delivery.revive(chatId);
  // The bot is back in all topics of the chat.
  if (isFromPerson && kind === "membership") delivery.resume({ messengerId, chatId });
  else if ((isFromPerson && !isIgnored) || (kind === "service" && detail === REOPENED))
    delivery.resume({ messengerId, chatId, threadId });
}

function isOfPerson(event: MessengerEvent): boolean {
  return (
    event.message !== undefined ||
    event.action !== undefined ||
    event.reaction !== undefined ||
    (event.kind === "membership" && event.detail !== "blocked" && event.detail !== "removed")
  );
}
