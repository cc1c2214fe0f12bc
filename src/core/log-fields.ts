import type { IncomingEvent } from "./messenger.ts";
import type { Address } from "./surface.ts";

/** How the log names an event, the same in every line about it. */
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

/** How the log names the place that a message goes to, the same as the events that come from there. */
export function placeFields({
  chatId,
  messengerId,
  threadId,
}: Pick<Address, "messengerId" | "chatId" | "threadId">): Omit<EventFields, "key"> {
  return { messenger: messengerId, chat: chatId, thread: threadId };
}
