import { DEFAULT_ANSWER_MS } from "../actions/runs/check-question.ts";
import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import type { AskedQuestion } from "../core/chat/question.ts";
import { beginForm } from "../forms/form-places.ts";
import type { Question } from "./question.ts";

/** Facts about a question beside what is asked. */
export interface QuestionFacts extends Pick<
  Question,
  "id" | "form" | "askedIn" | "call" | "threadId" | "name"
> {
  /** The event that led to the question. */
  readonly cause: MessengerEvent | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Returns a question that begins. Half of its time is over when people are reminded, unless it says otherwise. */
export function newQuestion(
  {
    earlier,
    expiresAfterMs = DEFAULT_ANSWER_MS,
    message,
    problem,
    remindAfterMs = expiresAfterMs / 2,
  }: AskedQuestion,
  { cause, now, ...facts }: QuestionFacts,
): Question {
  // A system that asks by itself shows the message only.
  const words = facts.askedIn.length === 0 && problem !== undefined ? `${message}\n\n${problem}` : message;
  // The person must see the only field of a form, and what was refused is no start.
  const begun = beginForm(facts.form, facts.form.isSingle ? undefined : earlier);
  const messageId = cause?.message?.id;
  return {
    ...facts,
    message: words,
    forms: facts.askedIn.map(() => ({ ...begun, ...(problem !== undefined && { problem }) })),
    cause:
      cause === undefined || messageId === undefined ? undefined : { threadId: cause.thread.id, messageId },
    createdAt: now,
    expiresAt: now + Math.ceil(expiresAfterMs),
    remindAt: remindAfterMs === false ? undefined : now + Math.ceil(remindAfterMs),
    end: undefined,
    endedAt: undefined,
    answer: undefined,
    by: undefined,
    isHinted: false,
    isDelivered: false,
    isUnchecked: false,
  };
}
