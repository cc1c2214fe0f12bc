import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import type { Place } from "../plan/plan.ts";

/** An update of the platform on its way to the bot. */
export interface Update {
  readonly id: number;
  readonly place: Place;
  readonly event: MessengerEvent;
  readonly token: string | undefined;
  readonly version: number | undefined;
  /** It comes to the gate of its chat, which knows whose it is. */
  readonly isForGate: boolean;
  attempts: number;
  /** For an edit or a deletion: whether its message was waiting when the update was stored. */
  findsWaiting: boolean;
}
