import type { IncomingEvent } from "../core/messenger.ts";

/** How the log names an event, the same in every line about it. */
export function eventFields(
  messengerId: string,
  { key, thread }: Pick<IncomingEvent, "key" | "thread">,
): { readonly messenger: string; readonly key: string; readonly thread: string } {
  return { messenger: messengerId, key, thread: thread.id };
}
