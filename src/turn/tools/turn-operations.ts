import type { TurnEnds } from "../turn-ends.ts";
import type { TurnEngine } from "../turn-engine.ts";

/** The operations of a conversation's turns. `TurnEngine` runs them with the bot's model; a simulation plays them. */
export interface TurnOperations extends Omit<TurnEngine, "cancel" | "ends" | "harness"> {
  readonly ends: Pick<TurnEnds, "isAwaited" | "tell">;
}
