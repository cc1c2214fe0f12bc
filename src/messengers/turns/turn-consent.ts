import type { MessengerEvent } from "../../core/chat/messenger-event.ts";

/**
 * The effect of `/stop` or `/new` outside of the running turn.
 *
 * - `nothing`: nothing has ended
 * - `seen`: the person sees the end, on the card of a question
 * - `unseen`: something has ended that the chat does not show
 */
export type StopEffect = "nothing" | "seen" | "unseen";

/** People's consent to the calls of a turn, given or asked for. */
export interface TurnConsent {
  /** Whether people have agreed to something for which a turn has asked. */
  hasConsent(turnId: string): boolean;
  isAsking(turnId: string): boolean;
  /** The calls of a step of a turn have ended. */
  stepEnded(turnId: string): void;
  /** A person has ended what runs in a chat, with `/stop` or `/new`. */
  stopped(by: MessengerEvent): StopEffect;
  /** Takes back the undecided questions of a turn that another one replaces. */
  turnReplaced(turnId: string): void;
}
