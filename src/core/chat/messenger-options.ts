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
} from "../json/check-options.ts";
import type { OptionRules, OptionRule } from "../json/check-options.ts";
import type { TextName } from "../text/bot-texts.ts";
import type { DeliveryPolicy } from "./delivery.ts";
import type { MessengerLimits, MessengerOptions } from "./messenger.ts";

/** The texts that a person may read and no model wrote. They never contain anything from an exception (I10). */
export const SAFE_TEXTS = [
  "emptyResponseText",
  "errorResponseText",
  "overloadedResponseText",
  "waitingResponseText",
  "interruptedResponseText",
  "stepLimitResponseText",
  "stoppedResponseText",
  "busyResponseText",
  "refusedResponseText",
  "limitResponseText",
  "staleActionResponseText",
  "interruptedActionResponseText",
  "fileTooLargeText",
  "fileUnreachableText",
  "fileForbiddenText",
  "fileRefusedText",
] as const satisfies readonly (TextName & keyof DeliveryPolicy)[];

export type SafeText = (typeof SAFE_TEXTS)[number];

const TEXT_OR_FUNCTION = orFunction(TEXT);
const TEXTS = Object.fromEntries(SAFE_TEXTS.map((name) => [name, TEXT_OR_FUNCTION]));

const DELIVERY: OptionRules<DeliveryPolicy> = {
  mode: oneOf("edit", "draft", "native", "buffered", "final-only"),
  linkPreviews: FLAG,
  richMessages: FLAG,
  typing: FLAG,
  resentMark: TEXT,
  callTimeoutMs: POSITIVE,
  editEveryMs: NOT_NEGATIVE,
  onUnknown: oneOf("resend-marked", "resend", "leave"),
  ...(TEXTS as Record<SafeText, OptionRule>),
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
