import { AsyncLocalStorage } from "node:async_hooks";
import type { MessengerContext } from "../chat/messenger-context.ts";
import type { TurnInfo } from "./turn-info.ts";

interface Served {
  readonly event: MessengerContext | undefined;
  readonly turn: TurnInfo | undefined;
}

const current = new AsyncLocalStorage<Served>();

/**
 * Returns the event that the running turn answers. Undefined if no message of a person began the turn: see `getTurn`.
 *
 * Works inside `getModel`, `getSystemPrompt`, `getTools`, hooks, a tool's `execute` and a command's handler. Each turn
 * has its own event, even if several turns run at once.
 */
export function getMessengerContext(): MessengerContext | undefined {
  return current.getStore()?.event;
}

/**
 * Returns the turn in which the bot's code runs: its kind, its authors and the chats that its answer goes to. Undefined
 * outside a turn.
 */
export function getTurn(): TurnInfo | undefined {
  return current.getStore()?.turn;
}

/** Runs the bot's code for an event outside of turns, such as a command. */
export function inMessengerContext<T>(event: MessengerContext, body: () => T): T {
  return current.run({ event, turn: undefined }, body);
}

/** Runs the bot's code inside a turn, with the event that the turn answers, if there is one. */
export function inTurnContext<T>(
  turn: TurnInfo | undefined,
  event: MessengerContext | undefined,
  body: () => T,
): T {
  return current.run({ event, turn }, body);
}
