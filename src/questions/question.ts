import type { Json } from "../core/message/content.ts";
import type { MessengerAuthor } from "../core/chat/messenger-event.ts";
import type { Unanswered } from "../core/chat/question.ts";
import type { Address } from "../core/chat/surface.ts";
import type { Form, FormState } from "../forms/form.ts";

/** A person who is asked, and where. */
export interface AskedPlace {
  /** Undefined: everybody in the chat. */
  readonly userId?: string | undefined;
  /** Undefined if the platform does not tell it. */
  readonly name?: string | undefined;
  readonly address: Address;
  /** IETF tag. Undefined if the platform does not tell it. */
  readonly language?: string | undefined;
  /** How many cards the form has left above messages that answered them. @default 0 */
  readonly cardsAbove?: number | undefined;
}

/** How a question ended: with an answer, or without. */
export type QuestionEnd = "answered" | Unanswered;

/** A question that was asked. */
export interface Question {
  readonly id: string;
  readonly message: string;
  readonly form: Form;
  /** The people who may answer, each in a chat. The first answer counts. */
  readonly askedIn: readonly AskedPlace[];
  /** Where each of them is in the form. */
  readonly forms: readonly FormState[];
  /** The parked call that waits for the answer. Undefined if the bot's own code asked. */
  readonly call: { readonly id: string; readonly ledgerKey: string; readonly position: number } | undefined;
  /** The name of its schema in `getQuestions()`. Undefined if an action asked. */
  readonly name?: string | undefined;
  /** The message that led to the question, and its chat. Undefined if there is none. */
  readonly cause: { readonly threadId: string; readonly messageId: string } | undefined;
  /** The chat that sees the outcome. */
  readonly threadId: string | undefined;
  /** Epoch milliseconds, as all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Undefined if there is no reminder, or it was sent. */
  readonly remindAt: number | undefined;
  /** Undefined while the question is open. */
  readonly end: QuestionEnd | undefined;
  readonly endedAt: number | undefined;
  /** The answer to a question of the bot's own code, until the bot has it. */
  readonly answer: Json | undefined;
  /** The person who answered, or did not want to. */
  readonly by: MessengerAuthor | undefined;
  /** Whether somebody has been told that a message was no answer. */
  readonly isHinted: boolean;
  /** Whether whoever waits for the answer has it. */
  readonly isDelivered: boolean;
  /** Whether it has an answer with a secret that its schema may still refuse. */
  readonly isUnchecked: boolean;
}

const PREFIX = "question:";

/** The id of the card that a place shows now. */
export function cardIdOf({ askedIn, id }: Pick<Question, "askedIn" | "id">, place: number): string {
  const { cardsAbove = 0 } = askedIn[place] ?? {};
  return `${PREFIX}${id}:${place}${cardsAbove === 0 ? "" : `:${cardsAbove}`}`;
}

/** The question and the place of a card. Undefined for any other card. */
export function placeOfCard(cardId: string): { readonly id: string; readonly place: number } | undefined {
  const [, id, place] = /^question:([^:]+):(\d+)(?::\d+)?$/.exec(cardId) ?? [];
  return id === undefined ? undefined : { id, place: Number(place) };
}

/** Whether nothing that a person writes in the chat of a place may reach a model while the question is open. */
export function isSecretAt({ askedIn, form }: Pick<Question, "askedIn" | "form">, place: number): boolean {
  return askedIn[place]?.address.isDirectMessage === true && isSensitive(form);
}

/** Whether a value of the form may not be shown. */
export function isSensitive({ fields }: Form): boolean {
  return fields.some((field) => field.isSensitive === true);
}
