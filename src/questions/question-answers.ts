import { z } from "zod";
import type { Say } from "../core/text/bot-texts.ts";
import { alert, type FeaturePress, type PressAnswer } from "../core/chat/card-press.ts";
import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import type { Address } from "../core/chat/surface.ts";
import type { FormEvent, FormStep } from "../forms/form.ts";
import type { HeldMessage, FeatureQuestions, TakenMessage } from "../messengers/intake/open-questions.ts";
import { isReply } from "../messengers/intake/presses.ts";
import { needsQuote } from "./question-cards.ts";
import type { QuestionParts } from "./question-parts.ts";
import { cardIdOf, isSecretAt, placeOfCard, type Question } from "./question.ts";

const payloadSchema = z.object({ question: z.string(), place: z.number(), press: z.json() });

/** Platforms tell whole seconds. */
const SECOND_MS = 1_000;

/** A question that a person was asked at a place. */
interface Asked {
  readonly question: Question;
  readonly place: number;
}

/**
 * Presses and messages of people who were asked something.
 *
 * 1. A press counts if it is one of the person who was asked at its card, and of a button that the card shows.
 * 2. A message that quotes the card counts if the asked field can read it.
 * 3. A message that quotes nothing is about the newest open question of its author in its chat. It counts if the field
 *    can read it; as free text only in a private chat. It was written after the card had appeared.
 * 4. While a question with sensitive fields is open in a private chat, no message there is for the model, unless it was
 *    certainly written before. It is no answer if the card may not have been there. While the schema may refuse the
 *    answer, a message waits, because people may be asked again.
 * 5. Any other message of such a person is for the model. The first one gets a hint.
 */
export class QuestionAnswers implements FeatureQuestions {
  readonly #options: QuestionParts;

  constructor(options: QuestionParts) {
    this.#options = options;
  }

  /** Takes a press of a question's card. Undefined if the card is another one. */
  pressed(press: FeaturePress): Promise<PressAnswer> | undefined {
    return placeOfCard(press.cardId) === undefined ? undefined : Promise.resolve(this.#press(press));
  }

  /** A press is handled together with the step of its form. */
  storesPress(cardId: string): boolean {
    return placeOfCard(cardId) !== undefined;
  }

  takesReply(cardId: string, event: MessengerEvent): boolean {
    const asked = this.#askedBy(cardId);
    if (asked === undefined) return false;
    // The conversation that asked must not see what people write in other chats.
    if (this.#isElsewhere(asked)) return true;
    const isOpen = asked.question.end === undefined && isFrom(event, asked) && isShown(asked, cardId);
    return isOpen && isAccepted(this.#read(asked, event));
  }

  taken(event: MessengerEvent): TakenMessage | HeldMessage | undefined {
    const { author, message } = event;
    if (author === undefined || message === undefined) return undefined;
    const { quoted } = message;
    const isQuoted = (asked: Asked): boolean =>
      quoted !== undefined && this.#messagesOf(asked).includes(quoted.id);
    const isSeen = (asked: Asked): boolean => isQuoted(asked) || this.#isShownBefore(asked, event);
    const mayBeSeen = (asked: Asked): boolean =>
      isSecretBegun(asked) || (isSecret(asked) && message.sentAt + SECOND_MS > asked.question.createdAt);
    const open = this.#openFor(event).filter((asked) => isSeen(asked) || mayBeSeen(asked));
    // A message that quotes another one is about that, unless it may hold a secret.
    const asked = open.findLast(isQuoted) ?? open.findLast((one) => quoted === undefined || isSecret(one));
    const isForModel = !open.some(isSecret);
    // The answer to a secret may be refused, and then this is a better one, and no message for the model.
    if (isForModel && this.#in(event, this.#options.questions.store.unchecked()).some(isSecret))
      return { until: this.#options.questions.nextChecked };
    if (asked === undefined) return undefined;
    const { place, question } = asked;
    const step = this.#read(asked, event);
    const isPlace = isSeen(asked) && (isQuoted(asked) || isSecret(asked) || !needsQuote(question, place));
    if (isAccepted(step) && isPlace)
      return {
        isForModel: false,
        store: () => this.#options.questions.move(question, place, step, author, true),
      };
    if (isForModel && question.isHinted) return undefined;
    const say = this.#options.cards.sayTo(author);
    const problem = isPlace ? step?.problem : undefined;
    return {
      isForModel,
      hint: {
        text: isForModel ? ordinaryWords(problem, isPlace, say) : keptWords(problem, say),
        replyTo: this.#messagesOf(asked).at(-1),
      },
      store: () => this.#options.questions.store.change(question.id, { isHinted: true }),
    };
  }

  /** A person deleted a message. What was asked because of it is not wanted any more. */
  messageDeleted({ author, message, thread }: MessengerEvent): void {
    const { host, questions } = this.#options;
    for (const question of questions.store.open()) {
      const { cause } = question;
      if (cause === undefined || cause.messageId !== message?.id || cause.threadId !== thread.id) continue;
      host.database.transaction(() => questions.close(question, "declined", author));
    }
  }

  /** A person does not want what runs in a chat any more. Returns `false` if the person was asked nothing there. */
  stopped(event: MessengerEvent): boolean {
    const { host, questions } = this.#options;
    const asked = this.#openFor(event);
    for (const { question } of asked)
      host.database.transaction(() => questions.close(question, "declined", event.author));
    return asked.length > 0;
  }

  #press({ cardId, event, handled, payload, person }: FeaturePress): PressAnswer {
    const { cards, host, questions } = this.#options;
    const asked = this.#askedBy(cardId);
    const say = cards.sayTo(person);
    if (asked === undefined) return alert(say("questionOver"));
    // A person without an id cannot answer.
    if (person === undefined) return alert(say("pressAnonymous"));
    if (!isFrom(event, asked)) return alert(say("questionNotYours"));
    const { place, question } = asked;
    if (question.isUnchecked && isReply(payload)) return alert(keptWords(undefined, say));
    if (question.end !== undefined) return alert(say("questionOver"));
    if (isReply(payload)) {
      if (!isShown(asked, cardId)) return alert(say("questionMoved"));
      const isEarly =
        isSecret(asked) && event.message?.quoted === undefined && !this.#isShownBefore(asked, event);
      const step = isEarly ? undefined : this.#read(asked, event);
      if (!isAccepted(step))
        return alert(
          isSecretAt(question, place)
            ? keptWords(step?.problem, say)
            : (step?.problem ?? say("questionMoved")),
        );
      host.database.transaction(() => {
        handled();
        questions.move(question, place, step, person, true);
      });
      return undefined;
    }
    const { data } = payloadSchema.safeParse(payload);
    const isThis = data?.question === question.id && data.place === place;
    const step = isThis ? questions.look(question, place, { kind: "press", press: data.press }) : undefined;
    if (step === undefined || step.state === question.forms[place]) return alert(say("questionMoved"));
    host.database.transaction(() => {
      handled();
      questions.move(question, place, step, person, false);
    });
    return step.problem === undefined ? undefined : alert(step.problem);
  }

  #read({ place, question }: Asked, { message, messengerId }: MessengerEvent): FormStep | undefined {
    if (message === undefined) return undefined;
    const { attachments, text, textToBot = text } = message;
    const said: FormEvent = { kind: "message", message: { messengerId, text: textToBot, attachments } };
    const step = this.#options.questions.look(question, place, said);
    return step?.state === question.forms[place] ? undefined : step;
  }

  #askedBy(cardId: string): Asked | undefined {
    const card = placeOfCard(cardId);
    const question = card && this.#options.questions.store.get(card.id);
    return question && card && { question, place: card.place };
  }

  /** Returns the open questions of the author in the chat of an event, oldest first. */
  #openFor(event: MessengerEvent): Asked[] {
    return this.#in(event, this.#options.questions.store.open());
  }

  /** Returns those of some questions that the author was asked in the chat of an event. */
  #in(event: MessengerEvent, questions: readonly Question[]): Asked[] {
    return questions.flatMap((question) =>
      question.askedIn.flatMap((asked, place) => {
        const { threadId } = this.#placeToday(asked.address);
        return threadId === event.thread.id && isFrom(event, { question, place }) ? { question, place } : [];
      }),
    );
  }

  /** Whether a place is another chat than the one that sees the outcome. */
  #isElsewhere({ place, question }: Asked): boolean {
    return question.askedIn[place]?.address.threadId !== question.threadId;
  }

  #placeToday(address: Address): Pick<Address, "threadId"> {
    return { ...address, ...this.#options.host.thread.delivery.movedTo(address.messengerId, address.chatId) };
  }

  /** The ids of the messages that show the card of a place. */
  #messagesOf({ place, question }: Asked): string[] {
    const receipt = this.#options.host.thread.delivery.receipt(cardIdOf(question, place));
    return receipt?.messages.flatMap(({ messageId }) => messageId ?? []) ?? [];
  }

  /** Whether the card was visible when a message was written. If the platform numbers its messages, the ids tell. */
  #isShownBefore(asked: Asked, { message, messengerId }: MessengerEvent): boolean {
    const { messengers, thread } = this.#options.host;
    const receipt = thread.delivery.receipt(cardIdOf(asked.question, asked.place));
    const shown = receipt?.messages.at(-1);
    if (message === undefined || shown?.messageId === undefined) return false;
    if (messengers.surface(messengerId).probing !== undefined)
      return Number(message.id) > Number(shown.messageId);
    return message.sentAt + SECOND_MS > (shown.sentAt ?? Infinity);
  }
}

function isFrom({ author, messengerId }: MessengerEvent, { place, question }: Asked): boolean {
  const asked = question.askedIn[place];
  if (author === undefined || asked?.address.messengerId !== messengerId) return false;
  return asked.userId === undefined || asked.userId === author.userId;
}

/** Tells a person that a message is no answer, and goes nowhere else. */
function keptWords(problem: string | undefined, say: Say): string {
  return inOrder(problem, say("questionKept", { button: say("formCancelButton") }));
}

/** Tells a person that the model gets a message. */
function ordinaryWords(problem: string | undefined, isPlace: boolean, say: Say): string {
  if (!isPlace) return say("questionQuoteIt");
  return inOrder(problem, say("questionOrdinary"), say("questionStaysOpen"));
}

function isSecret({ place, question }: Asked): boolean {
  return isSecretAt(question, place);
}

/** Whether a person may write the next secret, or a better one, before its card appears. */
function isSecretBegun(asked: Asked): boolean {
  const { place, question } = asked;
  const isFirst = (question.askedIn[place]?.cardsAbove ?? 0) === 0;
  return isSecret(asked) && (!isFirst || question.forms[place]?.problem !== undefined);
}

function inOrder(...sentences: readonly (string | undefined)[]): string {
  return sentences.filter((sentence) => sentence !== undefined).join(" ");
}

/** Whether a card is the newest one of its place. Earlier ones stand above the messages that have answered them. */
function isShown({ place, question }: Asked, cardId: string): boolean {
  return cardIdOf(question, place) === cardId;
}

/** A message that a form has read as an answer. */
type AcceptedStep = FormStep & { readonly problem?: undefined };

function isAccepted(step: FormStep | undefined): step is AcceptedStep {
  return step !== undefined && step.problem === undefined;
}
