import type {
  MessengerDefinition,
  PlatformVerification,
  VerifyWebhook,
} from "../../src/core/chat/messenger.ts";
import { commonOptions } from "../../src/core/chat/messenger-options.ts";
import { parseTelegramOptions, type TelegramMessengerOptions } from "./options.ts";
import { createTelegramPlatform } from "./platform.ts";

/**
 * Declares a Telegram bot, for `getMessengers()`.
 *
 * @throws {ConfigurationError} if an option is missing or cannot work; the message says how to fix it
 *
 * @example
 * ```ts
 * getMessengers() {
 *   return defineMessengers({
 *     telegram: telegramMessenger({
 *       token: this.env.TELEGRAM_BOT_TOKEN,
 *       secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
 *       userName: "support_bot",
 *     }),
 *   });
 * }
 * ```
 */
export function telegramMessenger(options: TelegramMessengerOptions): MessengerDefinition {
  const settings = parseTelegramOptions(options);
  const platform = createTelegramPlatform(settings);
  const { verifyWebhook, ...common } = commonOptions(options);
  return {
    ...common,
    ...(verifyWebhook === undefined
      ? {}
      : { verifyWebhook: verifyBoth(platform.verification, verifyWebhook) }),
    platform,
  };
}

/** Checks both the secret, if there is one, and the bot's own function. `false` replaces the secret. */
function verifyBoth(
  verification: PlatformVerification,
  verifyWebhook: VerifyWebhook | false,
): VerifyWebhook | false {
  if (verifyWebhook === false || verification.kind !== "header") return verifyWebhook;
  return async (request) => (await verification.verify(request.headers)) && verifyWebhook(request);
}
