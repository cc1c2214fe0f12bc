import type { MessengerEvent } from "../../core/chat/messenger-event.ts";

/** Questions to people whose answer is a press, or a message that quotes the question's card. */
export interface OpenQuestions {
  /** Whether a message that quotes this card is handled like a press of it. */
  takesReply(cardId: string, event: MessengerEvent): boolean;
  /**
   * Whether presses of this card, which a feature has posted, are handled in one transaction, which calls
   * `FeaturePress.handled`, or can be handled again until then. @default false
   */
  storesPress?(cardId: string, owner: string | undefined): boolean;
  /** Whether a message is only a word of decision, such as "yes", and quotes nothing. */
  isBareWord(event: MessengerEvent): boolean;
  /** Returns the answer to a bare word that is not for the model. Undefined for any other word. */
  hint(event: MessengerEvent): MessengerHint | undefined;
  /** Returns the answer to a bare word that is about this card. Undefined if the card asks nothing any more. */
  hintAt(cardId: string, event: MessengerEvent): MessengerHint | undefined;
  /** Returns what becomes of a message while its author is asked something. Undefined if it is for the model alone. */
  taken?(event: MessengerEvent): TakenMessage | HeldMessage | undefined;
  /** Notes that a person has deleted a message. */
  messageDeleted(event: MessengerEvent): void;
  /** Returns the number of questions that were asked in the chat of an event and still wait. */
  waitingIn(event: MessengerEvent): number;
}

/** The questions of one feature. */
export type FeatureQuestions = Pick<OpenQuestions, "takesReply" | "messageDeleted"> & Partial<OpenQuestions>;

/** A message of somebody who is asked something. */
export interface TakenMessage {
  /** Whether the model gets it. An answer is not for the model, nor anything else while a secret is asked for. */
  readonly isForModel: boolean;
  readonly hint?: MessengerHint;
  /** Stores that it was taken. Called in the transaction that ends the event, or sends the hint. */
  store(): void;
}

/** A message about which nothing can be decided yet. It is looked at again when the promise resolves. */
export interface HeldMessage {
  readonly until: Promise<void>;
}

/** An answer to a message that the model does not get. */
export interface MessengerHint {
  readonly text: string;
  /** Id of the message that it points at. */
  readonly replyTo: string | undefined;
}
