import type { MessengerDefinition, PlatformVerification, VerifyWebhook } from "../../src/core/messenger.ts";
import { messengerOptionsOf, parseTelegramOptions, type TelegramMessengerOptions } from "./options.ts";
import { createTelegramPlatform } from "./platform.ts";

export type { TelegramMessengerOptions, TelegramUpdateContext } from "./options.ts";
export { TelegramCallError } from "./call-error.ts";
export { allowedUpdates, allowedUpdatesFor, type WantedUpdates } from "./update-kinds.ts";

/**
 * A Telegram bot, for `getMessengers()`.
 *
 * @throws {ConfigurationError} when an option is missing or cannot work; the message says the fix
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
  const { verifyWebhook, ...common } = messengerOptionsOf(options);
  return {
    ...common,
    ...(verifyWebhook === undefined
      ? {}
      : { verifyWebhook: verifyBoth(platform.verification, verifyWebhook) }),
    platform,
  };
}

/** A function of the bot's own comes on top of the secret, where there is one; an explicit `false` replaces it. */
function verifyBoth(
  verification: PlatformVerification,
  verifyWebhook: VerifyWebhook | false,
): VerifyWebhook | false {
  if (verifyWebhook === false || verification.kind !== "header") return verifyWebhook;
  return async (request) => (await verification.verify(request.headers)) && verifyWebhook(request);
}

export default telegramMessenger;
