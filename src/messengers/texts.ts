import type { DeliveryPolicy } from "../core/delivery.ts";

/** Everything that a person may read which no model wrote. Nothing of an exception is ever added to it (I10). */
export type SafeText =
  | "emptyResponseText"
  | "errorResponseText"
  | "interruptedResponseText"
  | "stoppedResponseText"
  | "busyResponseText"
  | "refusedResponseText";

const DEFAULTS: Readonly<Record<SafeText, string>> = {
  emptyResponseText: "I have no answer to that. Could you put it another way?",
  errorResponseText: "Sorry, something went wrong and I could not answer. Please try again in a moment.",
  interruptedResponseText: "Sorry, I could not finish this answer. Please ask again if you need the rest.",
  stoppedResponseText: "⏹ Stopped.",
  busyResponseText:
    "You are ahead of me: I will answer your earlier messages first. Please send this one again later.",
  refusedResponseText: "Sorry, this bot is private and I am not able to help you here.",
};

export function safeText(policy: DeliveryPolicy | undefined, name: SafeText): string {
  return policy?.[name] ?? DEFAULTS[name];
}
