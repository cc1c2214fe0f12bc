import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { Address } from "../../core/chat/surface.ts";

export function addressOf({ messengerId, thread }: Pick<MessengerEvent, "messengerId" | "thread">): Address {
  return {
    messengerId,
    threadId: thread.id,
    chatId: thread.chatId,
    isDirectMessage: thread.isDirectMessage,
    ...(thread.topicId !== undefined && { topicId: thread.topicId }),
  };
}
