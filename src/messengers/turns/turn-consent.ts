import type { MessengerEvent } from "../../core/messenger-event.ts";

/** People's consent to the calls of a turn, given or asked for. */
export interface TurnConsent {
  /** Whether people have agreed to something for which a turn has asked. */
  hasConsent(turnId: string): boolean;
  isAsking(turnId: string): boolean;
  /** The calls of a step of a turn have ended. */
  stepEnded(turnId: string): void;
  /**
   * A person has ended what runs in a chat, with `/stop` or `/new`. Returns `false` if the person was asked nothing there.
   */
  stopped(by: MessengerEvent): boolean;
  /** Takes back the undecided questions of a turn that another one replaces. */
  turnReplaced(turnId: string): void;
}
