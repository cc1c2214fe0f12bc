import { logBotFailure } from "../../core/bot-code.ts";
import type { DeliveryPolicy, ReplyPolicy } from "../../core/delivery.ts";
import { eventFields } from "../../core/log-fields.ts";
import type { Log } from "../../core/log.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";

/** Everything that a person may read which no model wrote. Nothing of an exception is ever added to it (I10). */
export type SafeText =
  | "emptyResponseText"
  | "errorResponseText"
  | "overloadedResponseText"
  | "waitingResponseText"
  | "interruptedResponseText"
  | "stoppedResponseText"
  | "busyResponseText"
  | "refusedResponseText"
  | "limitResponseText";

const DEFAULTS: Readonly<Record<SafeText, string>> = {
  emptyResponseText: "I have no answer to that. Could you put it another way?",
  errorResponseText: "Sorry, something went wrong and I could not answer. Please try again in a moment.",
  overloadedResponseText:
    "Sorry, the assistant is very busy right now and could not answer. Please try again in a few minutes.",
  waitingResponseText: "One moment, this takes longer than usual.",
  interruptedResponseText: "Sorry, I could not finish this answer. Please ask again if you need the rest.",
  stoppedResponseText: "(stopped)",
  busyResponseText:
    "You are ahead of me: I will answer your earlier messages first. Please send this one again later.",
  refusedResponseText: "Sorry, this bot is private and I am not able to help you here.",
  limitResponseText: "That was a lot for now. I need a break, please write to me again later.",
};

/**
 * The text for the one who reads it. A function of the bot that throws, or returns anything but a text, gives the
 * default, and leaves a line in the log.
 */
export function safeText(
  policy: DeliveryPolicy | undefined,
  name: SafeText,
  event: MessengerEvent | undefined,
  log: Log | undefined,
): string {
  const text = policy?.[name];
  if (typeof text === "string") return text;
  if (text === undefined || event === undefined) return DEFAULTS[name];
  try {
    const made: unknown = text({ locale: event.author?.language, event });
    if (typeof made === "string") return made;
    throw new TypeError(`Expected a text, got ${typeof made}.`);
  } catch (error) {
    if (log !== undefined) {
      logBotFailure(log.with(eventFields(event.messengerId, event)), `delivery.${name}`, error);
    }
    return DEFAULTS[name];
  }
}

/** What is stored with a reply. */
export function replyPolicy({
  callTimeoutMs,
  editEveryMs,
  linkPreviews,
  mode,
  onUnknown,
  resentMark,
  richMessages,
  typing,
}: DeliveryPolicy = {}): ReplyPolicy {
  return { callTimeoutMs, editEveryMs, linkPreviews, mode, onUnknown, resentMark, richMessages, typing };
}
