import type { IncomingEvent } from "./messenger.ts";
import type { Address } from "./surface.ts";

/** Log fields of an event, the same in every line about it. */
export type EventFields = {
  readonly messenger: string;
  readonly chat: string;
  readonly key: string;
  readonly thread: string;
};

export function eventFields(
  messengerId: string,
  { key, thread }: Pick<IncomingEvent, "key" | "thread">,
): EventFields {
  return { messenger: messengerId, chat: thread.chatId, key, thread: thread.id };
}

/** Returns the log fields of a message's destination. They are the same as those of events from there. */
export function placeFields({
  chatId,
  messengerId,
  threadId,
}: Pick<Address, "messengerId" | "chatId" | "threadId">): Omit<EventFields, "key"> {
  return { messenger: messengerId, chat: chatId, thread: threadId };
}
