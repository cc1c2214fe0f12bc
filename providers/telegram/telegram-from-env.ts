import type { MessengerDefinition } from "../../src/core/chat/messenger.ts";
import { telegramMessenger } from "./messenger.ts";
import type { TelegramMessengerOptions } from "./options.ts";

/** The names that `telegramFromEnv` reads. An empty value of an optional name counts as none. */
export interface TelegramEnvironment {
  /** The bot's token, as @BotFather shows it. */
  readonly TELEGRAM_BOT_TOKEN: string;
  /** The `secret_token` that `setWebhook` was given. */
  readonly TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  /** The bot's user name. @default asked once a day */
  readonly TELEGRAM_BOT_USERNAME?: string;
  /** A local Bot API server or a simulator. @default "https://api.telegram.org" */
  readonly TELEGRAM_API_BASE_URL?: string;
}

/**
 * Creates the Telegram bot that the environment names. `options` are those of `telegramMessenger`, and win over the
 * environment.
 *
 * @throws {ConfigurationError} when a value is missing or cannot work; the message says the fix
 *
 * @example
 * getMessengers() {
 *   return defineMessengers({ telegram: telegramFromEnv(this.env, { allow: [4711] }) });
 * }
 */
export function telegramFromEnv(
  env: TelegramEnvironment,
  options: Partial<TelegramMessengerOptions> = {},
): MessengerDefinition {
  return telegramMessenger({
    token: env.TELEGRAM_BOT_TOKEN,
    secretToken: env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
    userName: env.TELEGRAM_BOT_USERNAME,
    apiBaseUrl: env.TELEGRAM_API_BASE_URL,
    ...options,
  });
}
