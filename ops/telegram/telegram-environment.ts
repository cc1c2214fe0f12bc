import { ServeError } from "../serve/serve-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The bot's Telegram account, from the environment. */
export interface TelegramAccount {
  readonly token: string;
  readonly apiBaseUrl: string | undefined;
}

/**
 * Reads the bot's account. No message repeats the token.
 *
 * @throws {ServeError} if the token is missing or malformed
 */
export function telegramAccount(environment: Environment): TelegramAccount {
  const token = environment.TELEGRAM_BOT_TOKEN ?? "";
  if (token === "") {
    throw new ServeError(
      "telegram-token-missing",
      "TELEGRAM_BOT_TOKEN is not set. Write to @BotFather, send /newbot, and put the token into .env: TELEGRAM_BOT_TOKEN=123456:ABC...",
    );
  }
  if (!/^\d{1,20}:[\w-]+$/.test(token)) {
    throw new ServeError(
      "telegram-token-malformed",
      "TELEGRAM_BOT_TOKEN is not of the form 123456:ABC...: copy it from @BotFather without quotes, spaces or the word `bot`.",
    );
  }
  return { token, apiBaseUrl: environment.TELEGRAM_API_BASE_URL || undefined };
}

/**
 * Reads the webhook's secret. No message repeats it.
 *
 * @throws {ServeError} if it is missing or Telegram would refuse it
 */
export function webhookSecret(environment: Environment): string {
  const secret = environment.TELEGRAM_WEBHOOK_SECRET_TOKEN ?? "";
  if (secret === "") {
    throw new ServeError(
      "telegram-secret-missing",
      "TELEGRAM_WEBHOOK_SECRET_TOKEN is not set. Choose a long random value (openssl rand -hex 32), and set it for the bot and for this command.",
    );
  }
  if (!/^[\w-]{1,256}$/.test(secret)) {
    throw new ServeError(
      "telegram-secret-malformed",
      "TELEGRAM_WEBHOOK_SECRET_TOKEN must be 1 to 256 characters of A-Z a-z 0-9 _ -, as Telegram demands.",
    );
  }
  return secret;
}
