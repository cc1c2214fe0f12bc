import {
  FLAG,
  FUNCTION,
  isFunction,
  isText,
  listOf,
  namesOf,
  NOT_NEGATIVE,
  oneOf,
  orFunction,
  POSITIVE,
  TEXT,
} from "./check-options.ts";
import type { OptionRules, OptionRule } from "./check-options.ts";
import type { DeliveryPolicy } from "./delivery.ts";
import type { MessengerLimits, MessengerOptions } from "./messenger.ts";

const TEXT_OR_FUNCTION = orFunction(TEXT);

const DELIVERY: OptionRules<DeliveryPolicy> = {
  mode: oneOf("edit", "draft", "native", "buffered", "final-only"),
  linkPreviews: FLAG,
  richMessages: FLAG,
  typing: FLAG,
  resentMark: TEXT,
  callTimeoutMs: POSITIVE,
  editEveryMs: NOT_NEGATIVE,
  onUnknown: oneOf("resend-marked", "resend", "leave"),
  emptyResponseText: TEXT_OR_FUNCTION,
  errorResponseText: TEXT_OR_FUNCTION,
  overloadedResponseText: TEXT_OR_FUNCTION,
  waitingResponseText: TEXT_OR_FUNCTION,
  interruptedResponseText: TEXT_OR_FUNCTION,
  stepLimitResponseText: TEXT_OR_FUNCTION,
  stoppedResponseText: TEXT_OR_FUNCTION,
  busyResponseText: TEXT_OR_FUNCTION,
  refusedResponseText: TEXT_OR_FUNCTION,
  limitResponseText: TEXT_OR_FUNCTION,
  staleActionResponseText: TEXT_OR_FUNCTION,
  interruptedActionResponseText: TEXT_OR_FUNCTION,
  fileTooLargeText: TEXT_OR_FUNCTION,
  fileUnreachableText: TEXT_OR_FUNCTION,
  fileForbiddenText: TEXT_OR_FUNCTION,
  fileRefusedText: TEXT_OR_FUNCTION,
  silence: [
    "true, false or { signal }",
    (value) => typeof value === "boolean" || typeof value === "object",
    { signal: TEXT },
  ],
  removeArtefacts: FLAG,
  transform: FUNCTION,
  footer: TEXT_OR_FUNCTION,
  replyTo: oneOf("never", "groups", "always"),
};

const LIMITS: OptionRules<MessengerLimits> = {
  turnsPerPersonPerDay: POSITIVE,
  turnsPerPersonPerMinute: POSITIVE,
  tokensPerPersonPerDay: POSITIVE,
};

const VERIFICATION: OptionRule = ["a function or false", (value) => value === false || isFunction(value)];
const PEOPLE = listOf("a list of user ids", (id) => isText(id) || typeof id === "number");

/** The options that every messenger has. */
export const MESSENGER_OPTIONS: OptionRules<MessengerOptions> = {
  path: ['a path, such as "/telegram"', isText],
  respondTo: listOf('a list, such as ["direct-message", "mention"]', isText),
  subscribeOnMention: FLAG,
  conversation: orFunction(oneOf("thread", "self")),
  verifyWebhook: VERIFICATION,
  delivery: DELIVERY,
  toEvent: FUNCTION,
  channelSpeakerLabel: orFunction(FLAG),
  adapterName: TEXT,
  acceptsMedia: listOf('a list of media types, such as ["image/*"]', isText),
  maxMediaBytes: POSITIVE,
  allow: orFunction(PEOPLE),
  refusal: true,
  limits: LIMITS,
  burstMs: NOT_NEGATIVE,
  whenBusy: oneOf("queue", "steer", "interrupt"),
  rerunOnEdit: FLAG,
  staleAfterMs: POSITIVE,
  inboxLimit: POSITIVE,
};

/** Their names, for a provider with more options. The values are checked when the messenger has its id. */
export const MESSENGER_OPTION_NAMES = namesOf(MESSENGER_OPTIONS);

/** Returns those of a provider's options that every messenger has. */
export function commonOptions(options: MessengerOptions): MessengerOptions {
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => Object.hasOwn(MESSENGER_OPTIONS, name)),
  );
}
