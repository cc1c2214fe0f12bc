import { eventFields } from "../../core/chat/log-fields.ts";
import type { EventFields } from "../../core/chat/log-fields.ts";
import type { Log } from "../../core/base/log.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import type { NewTurn } from "../../turn/turn-store.ts";
import type { TurnListener } from "../../turn/turn-events.ts";

/**
 * Returns the listener that writes the log's lines about turns. Every turn that has begun gets one line at its end, which
 * says what it used.
 */
export function turnLines(log: Log): TurnListener {
  return (event) => {
    if (event.kind === "turn-begun") {
      const { turn } = event;
      log.info("turn.begun", {
        ...fieldsOf(turn),
        ...(turn.kind === "messages"
          ? { messages: turn.messageSeqs.length, replaces: turn.replaces }
          : { kind: turn.kind }),
      });
    }
    if (event.kind !== "turn-ended") return;
    const { at, beganAt, characters, isRestarted, outcome, turn, used } = event;
    const fields = {
      ...fieldsOf(turn),
      outcome,
      durationMs: at - beganAt,
      ...used,
      characters,
      // The use before the restart is not known any more.
      restarted: isRestarted ? true : undefined,
    };
    if (outcome === "failed") log.error("turn.ended", fields);
    else if (outcome === "out-of-steps") log.warn("turn.ended", fields);
    else log.info("turn.ended", fields);
  };
}

function fieldsOf(turn: NewTurn): ReturnType<typeof turnFields> {
  return turnFields(turn.id, turn.kind === "messages" ? turn.context : undefined);
}

/**
 * Returns the log fields that name a turn and the message it answers. Without an event, the bot's own code began it.
 */
export function turnFields(
  turnId: string | undefined,
  event: MessengerEvent | undefined,
): { readonly turn: string | undefined } & Partial<EventFields> {
  return { turn: turnId, ...(event !== undefined && eventFields(event.messengerId, event)) };
}
