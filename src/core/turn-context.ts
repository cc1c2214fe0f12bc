import { AsyncLocalStorage } from "node:async_hooks";
import type { MessengerEvent } from "./messenger-event.ts";

interface Served {
  readonly event: MessengerEvent | undefined;
  readonly turnId: string | undefined;
}

const current = new AsyncLocalStorage<Served>();

/**
 * The event that the running turn answers: inside `getModel`, `getSystemPrompt`, `getTools`, a tool's `execute` and a
 * command's handler. Each turn has its own, also when several run at once. `undefined` outside of a messenger's turn.
 */
export function getMessengerContext(): MessengerEvent | undefined {
  return current.getStore()?.event;
}

/** The turn that the running code of the bot serves; `undefined` outside of one. */
export function getTurnId(): string | undefined {
  return current.getStore()?.turnId;
}

/** Runs code of the bot on behalf of an event, and of a turn if there is one. */
export function inMessengerContext<T>(event: MessengerEvent | undefined, body: () => T, turnId?: string): T {
  return current.run({ event, turnId }, body);
}
