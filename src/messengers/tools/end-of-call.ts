import type { ActionHost } from "../../actions/runs/action-host.ts";
import { outcomeOf } from "../../turn/tools/tool-calls.ts";
import type { TurnEvents } from "../../turn/turn-events.ts";

/** Hears the events of turns. */
export interface EventSink {
  readonly events: Pick<TurnEvents, "emit">;
}

/** Returns the function that tells the events of turns how a call of an action has ended. */
export function endOfCall({ events }: EventSink): ActionHost["onEnded"] {
  return ({ name: action, requestId, toolCallId: callId }, output, beganAt) =>
    events.emit(requestId, { kind: "action-ended", callId, action, beganAt, outcome: outcomeOf(output) });
}
