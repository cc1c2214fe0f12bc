import type { MessengerDefinition } from "../../src/core/messenger.ts";
import { messengerOptionsOf, parseTelegramOptions, type TelegramMessengerOptions } from "./options.ts";
import { createTelegramPlatform } from "./platform.ts";

export type { TelegramMessengerOptions } from "./options.ts";
export { TelegramCallError } from "./call-error.ts";
export { allowedUpdates } from "./update-kinds.ts";

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
  return { ...messengerOptionsOf(options), platform: createTelegramPlatform(settings) };
}

export default telegramMessenger;
