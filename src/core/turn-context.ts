import { AsyncLocalStorage } from "node:async_hooks";
import type { MessengerEvent } from "./messenger-event.ts";

const current = new AsyncLocalStorage<MessengerEvent | undefined>();

/**
 * The event that the running turn answers: inside `getModel`, `getSystemPrompt`, `getTools`, a tool's `execute` and a
 * command's handler. Each turn has its own, also when several run at once. `undefined` outside of a messenger's turn.
 */
export function getMessengerContext(): MessengerEvent | undefined {
  return current.getStore();
}

/** Runs code of the bot on behalf of an event. */
export function inMessengerContext<T>(event: MessengerEvent | undefined, body: () => T): T {
  return current.run(event, body);
}
