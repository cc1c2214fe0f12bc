import { AsyncLocalStorage } from "node:async_hooks";
import type { MessengerContext } from "./messenger-context.ts";

interface Served {
  readonly event: MessengerContext | undefined;
  readonly turnId: string | undefined;
}

const current = new AsyncLocalStorage<Served>();

/**
 * Returns the event that the running turn answers. Undefined outside a messenger's turn.
 *
 * Works inside `getModel`, `getSystemPrompt`, `getTools`, a tool's `execute` and a command's handler. Each turn has its
 * own event, even if several turns run at once.
 */
export function getMessengerContext(): MessengerContext | undefined {
  return current.getStore()?.event;
}

/** Returns the id of the turn for which the bot's code runs. Undefined outside a turn. */
export function getTurnId(): string | undefined {
  return current.getStore()?.turnId;
}

/** Runs the bot's code with `event` as its context, and with the turn, if there is one. */
export function inMessengerContext<T>(
  event: MessengerContext | undefined,
  body: () => T,
  turnId?: string,
): T {
  return current.run({ event, turnId }, body);
}
