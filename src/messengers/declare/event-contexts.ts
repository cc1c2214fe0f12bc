import type { MessengerContext } from "../../core/chat/messenger-context.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";

/** Runs bot code in a context that knows the current event. */
export interface EventContexts {
  inContext<T>(event: MessengerEvent, body: (context: MessengerContext) => T): T;
}
