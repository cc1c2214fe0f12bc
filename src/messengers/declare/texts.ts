import { logBotFailure } from "../../core/time/bot-code.ts";
import { ENGLISH_TEXTS } from "../../core/text/english-texts.ts";
import { sayIn } from "../../core/text/bot-texts.ts";
import type { BotTexts } from "../../core/text/bot-texts.ts";
import type { DeliveryPolicy, ReplyPolicy, TextContext } from "../../core/chat/delivery.ts";
import { SAFE_TEXTS } from "../../core/chat/messenger-options.ts";
import type { SafeText } from "../../core/chat/messenger-options.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { Log } from "../../core/base/log.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";

/** Returns a messenger's policy with the bot's `texts` for those that it does not have itself. */
export function withBotTexts(policy: DeliveryPolicy | undefined, texts: BotTexts): DeliveryPolicy {
  const own = SAFE_TEXTS.filter((name) => texts[name] !== undefined).map((name) => {
    const text = ({ locale }: TextContext): string => sayIn(texts, locale)(name);
    return [name, policy?.[name] ?? text];
  });
  return { ...policy, ...Object.fromEntries(own) };
}

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
  if (text === undefined) return ENGLISH_TEXTS[name];
  try {
    const made: unknown = text({ locale: event?.author?.language, event });
    if (typeof made === "string") return made;
    throw new TypeError(`Expected a text, got ${typeof made}.`);
  } catch (error) {
    if (log !== undefined) {
      const own = event === undefined ? log : log.with(eventFields(event.messengerId, event));
      logBotFailure(own, `delivery.${name}`, error);
    }
    return ENGLISH_TEXTS[name];
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
