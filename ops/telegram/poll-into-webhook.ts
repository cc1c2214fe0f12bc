import { ServeError } from "../serve/serve-error.ts";
import { accountAnswer, doneAnswer, webhookInfoAnswer } from "./bot-api-answers.ts";
import type { BotApi } from "./bot-api.ts";
import { pollTelegram } from "./long-polling.ts";
import type { LongPollingOptions, PostResult } from "./long-polling.ts";
import type { MessengerFacts } from "../serve/running-bot.ts";
import type { RawUpdate } from "./update-queue.ts";

/** Telegram waits about this long for an answer of a webhook. */
const ANSWER_TIMEOUT_MS = 60_000;

/**
 * Makes sure that the updates of a bot can be polled. A webhook that is set is removed only with permission, because
 * the bot that runs there gets nothing from then on. Returns the bot's user name.
 *
 * @throws {ServeError} `webhook-set` without that permission
 */
export async function freeUpdates(options: {
  readonly api: BotApi;
  /** Asks whether a webhook that is set may be removed. */
  readonly mayRemove: (webhook: string, bot: string) => Promise<boolean>;
  readonly say: (line: string) => void;
}): Promise<string> {
  const { api, mayRemove, say } = options;
  const me = await api.call("getMe", accountAnswer);
  const { url: webhook } = await api.call("getWebhookInfo", webhookInfoAnswer);
  if (!webhook) return me.username;
  if (!(await mayRemove(webhook, me.username))) {
    throw new ServeError(
      "webhook-set",
      `Telegram delivers the updates of @${me.username} to ${webhook}. To get them here, allow its removal with --yes; or use the token of another bot for development.`,
    );
  }
  await api.call("deleteWebhook", doneAnswer);
  say(`Removed the webhook ${webhook}. To set it again: switchboard telegram setup --url <address>`);
  return me.username;
}

/**
 * Polls the updates of a real bot and posts them to its webhook on this machine, until the signal aborts.
 *
 * @param url address of the bot on this machine
 * @throws {ServeError} if Telegram does not give the updates; see `pollTelegram`
 */
export async function pollIntoWebhook(
  options: Pick<LongPollingOptions, "api" | "say" | "signal" | "pause"> & {
    readonly url: string;
    readonly messenger: MessengerFacts;
    readonly secret: string;
  },
): Promise<void> {
  const { messenger, secret, url } = options;
  const post = postTo(new URL(messenger.path, url).href, secret);
  await pollTelegram({ ...options, updates: messenger.updates ?? [], post });
}

/** Returns a function that posts an update as Telegram does. It never throws. */
function postTo(webhook: string, secret: string): (update: RawUpdate) => Promise<PostResult> {
  return async (update) => {
    try {
      const response = await fetch(webhook, {
        method: "POST",
        headers: { "content-type": "application/json", "x-telegram-bot-api-secret-token": secret },
        body: JSON.stringify(update),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      await response.arrayBuffer();
      if (response.ok) return { kind: "accepted" };
      const retryAfterS = Number(response.headers.get("retry-after") ?? Number.NaN);
      return {
        kind: "refused",
        reason: `it answered ${response.status}`,
        retryAfterMs: Number.isFinite(retryAfterS) ? retryAfterS * 1000 : undefined,
      };
    } catch (error) {
      const isSlow = error instanceof Error && error.name === "TimeoutError";
      return { kind: "refused", reason: isSlow ? "it did not answer in time" : "it cannot be reached" };
    }
  };
}
