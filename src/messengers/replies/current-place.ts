import type { Delivery } from "../../core/chat/delivery.ts";
import type { MessengerEvent, MessengerThread } from "../../core/chat/messenger-event.ts";

type Moves = Pick<Delivery, "movedTo">;

/** Returns a thread with the current address of its chat, which may have moved. */
export function currentThread(
  delivery: Moves,
  messengerId: string,
  thread: MessengerThread,
): MessengerThread {
  const place = delivery.movedTo(messengerId, thread.chatId);
  if (place === undefined) return thread;
  return { ...thread, id: place.threadId, chatId: place.chatId, formerChatId: thread.chatId };
}

/** Returns an event with the current address of its chat. */
export function atCurrentPlace(delivery: Moves, event: MessengerEvent): MessengerEvent {
  return { ...event, thread: currentThread(delivery, event.messengerId, event.thread) };
}
