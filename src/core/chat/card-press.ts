import type { Json } from "../message/content.ts";
import type { MessengerAuthor, MessengerEvent, MessengerThread } from "./messenger-event.ts";
import type { ActionNotice } from "./surface.ts";

/** A press of a card's button, or the number of an option that a person wrote. */
export interface CardPress {
  /** The id that `say` returned for the card. */
  readonly cardId: string;
  readonly payload: Json;
  /** The label of the button. */
  readonly label: string;
  /** The person who pressed. Undefined if the platform does not tell. */
  readonly person: MessengerAuthor | undefined;
  /** The thread in which the card was pressed. */
  readonly chat: MessengerThread;
  /** Whether the person wrote the number of the option instead of pressing a button. */
  readonly isTyped: boolean;
  readonly event: MessengerEvent;
}

/** A press of a card that a feature has posted. */
export interface FeaturePress extends CardPress {
  /**
   * Stores that the press is handled. Called in the transaction that stores its effect, if the feature's
   * `storesPress` is true: the press then counts once, also if the process dies, and is handled again if it dies before.
   */
  readonly handled: () => void;
}

/**
 * Answer to a press, plain text which only the person who pressed sees: a passing note, a dialog (`alert: true`), or nothing. Slack,
 * Discord, Teams and Google Chat show it as a message for one person. An answer to a number that a person wrote, and
 * one in a private chat without notes, is an ordinary message. A group without private words does not get it.
 */
export type PressAnswer = string | ActionNotice | undefined | void;

/** Returns an answer that is shown as a dialog, which the person closes. */
export function alert(text: string): PressAnswer {
  return { text, alert: true };
}
