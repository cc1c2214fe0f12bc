import { logBotFailure } from "../../core/bot-code.ts";
import type { DeliveryPolicy, ReplyPolicy } from "../../core/delivery.ts";
import { eventFields } from "../../core/log-fields.ts";
import type { Log } from "../../core/log.ts";
import type { MessengerEvent } from "../../core/messenger-event.ts";

/** The texts that a person may read and no model wrote. They never contain anything from an exception (I10). */
export type SafeText =
  | "emptyResponseText"
  | "errorResponseText"
  | "overloadedResponseText"
  | "waitingResponseText"
  | "interruptedResponseText"
  | "stoppedResponseText"
  | "busyResponseText"
  | "refusedResponseText"
  | "limitResponseText"
  | "staleActionResponseText"
  | "interruptedActionResponseText";

const DEFAULTS: Readonly<Record<SafeText, string>> = {
  emptyResponseText: "I don't have an answer to that. Could you put it another way?",
  errorResponseText: "Sorry, something went wrong and I couldn't answer. Please try again in a moment.",
  overloadedResponseText:
    "Sorry, I'm very busy right now and couldn't answer. Please try again in a few minutes.",
  waitingResponseText: "One moment, this is taking longer than usual.",
  interruptedResponseText: "Sorry, I couldn't finish this answer. Please ask again if you need the rest.",
  stoppedResponseText: "(stopped)",
  busyResponseText:
    "I'm still working on your earlier messages. Please send this one again in a little while.",
  refusedResponseText: "Sorry, this bot is private, so I can't help you here.",
  staleActionResponseText: "This button is no longer in use.",
  interruptedActionResponseText: "I was interrupted. Please check whether it worked before you try again.",
  limitResponseText: "You've reached the limit for now. Please try again later.",
};

/**
 * Returns a text for the person. If a function of the bot throws, or does not return a text, the default is used, and
 * the log gets a line.
 */
export function safeText(
  policy: DeliveryPolicy | undefined,
  name: SafeText,
  event: MessengerEvent | undefined,
  log: Log | undefined,
): string {
  const text = policy?.[name];
  if (typeof text === "string") return text;
  if (text === undefined) return DEFAULTS[name];
  try {
    const made: unknown = text({ locale: event?.author?.language, event });
    if (typeof made === "string") return made;
    throw new TypeError(`Expected a text, got ${typeof made}.`);
  } catch (error) {
    if (log !== undefined) {
      const own = event === undefined ? log : log.with(eventFields(event.messengerId, event));
      logBotFailure(own, `delivery.${name}`, error);
    }
    return DEFAULTS[name];
  }
}

/** Returns the part of the policy that is stored with a reply. */
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
