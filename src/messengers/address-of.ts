import type { MessengerEvent } from "../core/messenger-event.ts";
import type { Address } from "../core/surface.ts";

/** Where the answer to an event goes. */
export function addressOf(event: MessengerEvent): Address {
  const { thread } = event;
  return {
    messengerId: event.messengerId,
    threadId: thread.id,
    chatId: thread.chatId,
    isDirectMessage: thread.isDirectMessage,
    ...(thread.topicId !== undefined && { topicId: thread.topicId }),
  };
}
