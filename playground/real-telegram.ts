import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createBotApi } from "../ops/telegram/bot-api.ts";
import { freeUpdates, pollIntoWebhook } from "../ops/telegram/poll-into-webhook.ts";
import { askFacts } from "../ops/serve/running-bot.ts";
import { telegramMessenger } from "../ops/telegram/setup.ts";
import { telegramAccount } from "../ops/telegram/telegram-environment.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A real Telegram bot whose updates are polled for the bot on this machine. */
export interface RealTelegram {
  readonly userName: string;
  /** Variables that the bot needs and nobody has set. */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * Begins to poll. Resolves when polling has begun.
   *
   * @param url address of the bot on this machine
   * @param onEnded called if polling ends by itself
   */
  connect(url: string, onEnded: (error: unknown) => void): Promise<{ close(): Promise<void> }>;
}

/**
 * Prepares to poll a real bot. The token is enough: a secret and an operator's token are made up if there is none.
 *
 * @throws {ServeError} if the token is missing or refused, or a webhook is set that must not be removed
 */
export async function openRealTelegram(options: {
  readonly environment: Environment;
  /** Asks whether a webhook that is set may be removed. */
  readonly mayRemove: (webhook: string, bot: string) => Promise<boolean>;
  readonly say: (line: string) => void;
}): Promise<RealTelegram> {
  const { environment, mayRemove, say } = options;
  const api = createBotApi(telegramAccount(environment));
  const userName = await freeUpdates({ api, mayRemove, say });
  const secret = environment.TELEGRAM_WEBHOOK_SECRET_TOKEN || randomBytes(24).toString("base64url");
  const adminToken = environment.ADMIN_TOKEN || randomBytes(24).toString("base64url");
  return {
    userName,
    variables: { TELEGRAM_WEBHOOK_SECRET_TOKEN: secret, ADMIN_TOKEN: adminToken },
    async connect(url, onEnded) {
      const messenger = telegramMessenger((await askFacts(url, adminToken)).messengers, undefined);
      const stopped = new AbortController();
      const ended = pollIntoWebhook({
        api,
        url,
        messenger,
        secret,
        say,
        signal: stopped.signal,
        pause: async (ms, signal) => {
          await delay(ms, undefined, { signal }).catch(() => undefined);
        },
      }).catch(onEnded);
      return {
        async close() {
          stopped.abort();
          await ended;
        },
      };
    },
  };
}
