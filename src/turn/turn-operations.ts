import type { TurnEnds } from "./turn-ends.ts";
import type { TurnEngine } from "./turn-engine.ts";

/** The operations of a conversation's turns. `TurnEngine` runs them with the bot's model; a simulation plays them. */
export interface TurnOperations extends Pick<
  TurnEngine,
  | "start"
  | "follow"
  | "resumeAll"
  | "abort"
  | "ended"
  | "outcome"
  | "textSoFar"
  | "isRepeating"
  | "forget"
  | "messagesOf"
  | "search"
  | "sendsReasoning"
  | "observe"
  | "events"
> {
  readonly ends: Pick<TurnEnds, "isAwaited" | "tell">;
}
