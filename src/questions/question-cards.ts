import { sayTo, type Say } from "../core/text/bot-texts.ts";
import type { CardContent } from "../core/message/content.ts";
import type { MessengerAuthor } from "../core/chat/messenger-event.ts";
import { escapeMarkdown } from "../core/message/plain-markdown.ts";
import type { Address } from "../core/chat/surface.ts";
import { botTime, zoneOf } from "../feature/bot-time.ts";
import type { FormContext, FormState } from "../forms/form.ts";
import { askedAt } from "../forms/form-places.ts";
import { answeredCard, formCard } from "../forms/form-card.ts";
import { replyPolicy } from "../messengers/declare/texts.ts";
import { withdrawUnsent } from "../messengers/replies/withdraw-unsent.ts";
import type { QuestionsHost } from "./bot-methods.ts";
import { cardIdOf, isSecretAt, type AskedPlace, type Question, type QuestionEnd } from "./question.ts";

/** Owner of the cards. */
export const QUESTIONS = "questions";

const REMINDER = "reminder";
const refusalOf = ({ createdAt }: Question): string => `refused:${createdAt}`;

/** The cards of questions: one in each chat in which a person is asked. */
export class QuestionCards {
  readonly #host: Pick<QuestionsHost, "agent" | "deps" | "messengers" | "thread">;

  constructor(host: Pick<QuestionsHost, "agent" | "deps" | "messengers" | "thread">) {
    this.#host = host;
  }

  /** Returns the words for a person. */
  sayTo(person: Pick<MessengerAuthor, "language"> | Pick<AskedPlace, "language"> | undefined): Say {
    return sayTo(this.#host.agent, person);
  }

  /**
   * Posts or changes all cards of a question. Only stores the changes. A card in another chat shows the end of its
   * question, and asks for no more messages, when the secret is accepted or asked again.
   */
  draw(question: Question, isAskedAgain = false): void {
    const { messengers, thread } = this.#host;
    for (const [index, place] of question.askedIn.entries()) {
      const isKept = question.isUnchecked && isSecretElsewhere(question, index);
      if (!messengers.isDeclared(place.address.messengerId) || (isKept && !isAskedAgain)) continue;
      const id = cardIdOf(question, index);
      const card = this.#card(question, index, place);
      // Also after the end: the question may be asked again, and a late answer must be told so.
      const asks = question.call === undefined && { asksForQuote: true };
      const mayBeAsked = question.end === undefined || question.isUnchecked;
      const asksForMessage = mayBeAsked && isSecretElsewhere(question, index);
      const content = { kind: "stored-card", card, image: undefined, ...asks, asksForMessage } as const;
      // Somebody may press a button that the card does not have any more, and must hear what has become of it.
      if (thread.cards.store.read(id) !== undefined) thread.cards.revise(id, content, "leave", true);
      else {
        const policy = this.#policyOf(place.address);
        thread.cards.post({ id, address: place.address, policy, owner: QUESTIONS }, content);
      }
    }
  }

  /**
   * Leaves the card of a place above the message that has answered its field, and returns the place with the next card.
   * People do not see that a card changes above what they have just written. Only stores the change.
   */
  leave(question: Question, index: number, after: FormState): AskedPlace | undefined {
    const { messengers, thread } = this.#host;
    const [place, before] = [question.askedIn[index], question.forms[index]];
    const field = before && askedAt(question.form, before);
    if (place === undefined || field === undefined) return undefined;
    const { messengerId } = place.address;
    // A card that cannot change is posted again in any case.
    if (!messengers.isDeclared(messengerId) || !messengers.surface(messengerId).capabilities.edit)
      return undefined;
    // Two cards would leave a time between them in which the model of that chat gets what is written.
    if (isSecretElsewhere(question, index)) {
      this.#sayBelow(question, `next:${this.#host.deps.newId()}`, (say) => say("questionStaysOpen"), index);
      return undefined;
    }
    const card = answeredCard(field, after, this.#shortContext(question, index, place));
    thread.cards.revise(cardIdOf(question, index), card, "leave", true);
    return { ...place, cardsAbove: (place.cardsAbove ?? 0) + 1 };
  }

  /** Reminds everybody who was asked, below the cards. Only stores the messages. */
  remind(question: Question): void {
    this.#sayBelow(question, REMINDER, (say) =>
      say("questionReminder", { time: botTime(this.#host.agent, question.expiresAt, say) }),
    );
  }

  /** Tells everybody who was asked, below the cards, that an answer does not fit. Only stores the messages. */
  refuse(question: Question, problem: string): void {
    this.#sayBelow(question, refusalOf(question), (say) => `${problem} ${say("questionStaysOpen")}`);
  }

  /** Drops what was said below the cards and has not been sent, because the question is over. */
  withdrawBelow(question: Question): void {
    for (const index of question.askedIn.keys())
      for (const name of [REMINDER, refusalOf(question)])
        withdrawUnsent(this.#host.thread.delivery, `${cardIdOf(question, index)}:${name}`);
  }

  #sayBelow(question: Question, name: string, words: (say: Say) => string, only?: number): void {
    const { messengers, thread } = this.#host;
    for (const [index, place] of question.askedIn.entries()) {
      const { address } = place;
      if (!messengers.isDeclared(address.messengerId) || (only ?? index) !== index) continue;
      const id = cardIdOf(question, index);
      const replyTo = thread.delivery.receipt(id)?.messages.at(-1)?.messageId;
      const text = words(this.sayTo(place));
      thread.cards.post(
        {
          id: `${id}:${name}`,
          address,
          policy: this.#policyOf(address),
          ...(replyTo !== undefined && { options: { replyTo } }),
        },
        { kind: "text", text: escapeMarkdown(text) },
      );
    }
  }

  /** Returns what a form must know of the person and the chat of a place. */
  context(question: Question, index: number, place: AskedPlace): FormContext {
    const { agent, messengers, deps } = this.#host;
    const { address, language } = place;
    const say = this.sayTo(place);
    const isPrivate = address.isDirectMessage;
    return {
      message: isPrivate ? question.message : `${addressed(place)}${question.message}`,
      say,
      language,
      timeZone: zoneOf(agent) ?? "UTC",
      now: deps.clock.now(),
      isPrivate,
      surface: messengers.surface(address.messengerId).capabilities,
      payloadOf: (press) => ({ question: question.id, place: index, press: { ...press } }),
    };
  }

  #card(question: Question, index: number, place: AskedPlace): CardContent {
    const { by, end, form, forms } = question;
    const context = this.context(question, index, place);
    const { say } = context;
    const state = forms[index];
    const isMine = place.userId === undefined || by?.userId === place.userId;
    if (state === undefined) return { kind: "card", text: context.message };
    const isBetween = state.at.kind === "field" || state.at.kind === "change";
    const shown = formCard(form, state, isBetween ? this.#shortContext(question, index, place) : context);
    if (end === undefined) {
      const hint = needsQuote(question, index) ? `\n\n${escapeMarkdown(say("questionReplyHint"))}` : "";
      return { ...shown, text: `${shown.text}${hint}` };
    }
    // The end must be a change that people see: no other one reaches the gate of their chat.
    const isKept = question.isUnchecked && isSecretElsewhere(question, index);
    if (end === "answered" && isMine && !isKept) return shown;
    const words = isKept ? say("questionStaysOpen") : endWords(end, by, say);
    return { kind: "card", text: `${context.message}\n\n${escapeMarkdown(words)}` };
  }

  /** Cards below the first one do not repeat the message until the summary. */
  #shortContext(question: Question, index: number, place: AskedPlace): FormContext {
    const context = this.context(question, index, place);
    if (place.cardsAbove === undefined) return context;
    return { ...context, message: context.isPrivate ? "" : addressed(place) };
  }

  #policyOf({ messengerId }: Address): ReturnType<typeof replyPolicy> {
    return replyPolicy(this.#host.messengers.find(messengerId)?.delivery ?? {});
  }
}

/**
 * Whether a place asks for a secret in a chat whose conversation knows nothing of the question. Its model must not read
 * what is written there.
 */
function isSecretElsewhere(question: Question, index: number): boolean {
  return isSecretAt(question, index) && question.askedIn[index]?.address.threadId !== question.threadId;
}

function endWords(end: QuestionEnd, by: MessengerAuthor | undefined, say: Say): string {
  if (end === "answered")
    return say("questionAnsweredBy", { person: by?.fullName ?? by?.userName ?? `Person ${by?.userId}` });
  return say(end === "expired" ? "questionExpired" : "questionDeclined");
}

/** Names the person in a chat of several people. */
function addressed({ name, userId }: AskedPlace): string {
  return userId === undefined ? "" : `**${escapeMarkdown(name ?? `Person ${userId}`)}:** `;
}

/** Whether a message answers the field that is asked at a place only if it quotes the card. */
export function needsQuote({ askedIn, form, forms, threadId }: Question, place: number): boolean {
  const [asked, state] = [askedIn[place], forms[place]];
  const field = state && askedAt(form, state);
  if (asked === undefined || field === undefined || field.kind === "choice") return false;
  // The conversation of another chat knows nothing of the question.
  if (asked.address.threadId !== threadId) return true;
  return field.kind === "text" && !asked.address.isDirectMessage;
}
