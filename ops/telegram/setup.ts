import { ServeError } from "../serve/serve-error.ts";
import { accountAnswer, doneAnswer, webhookInfoAnswer } from "./bot-api-answers.ts";
import type { BotApi } from "./bot-api.ts";
import type { MessengerFacts } from "../serve/running-bot.ts";
import { stateAfterSetup } from "./webhook-state.ts";
import type { WebhookState } from "./webhook-state.ts";

export interface SetupOptions {
  readonly api: BotApi;
  /** Public address of the bot, without the path of a messenger. */
  readonly url: string;
  readonly secret: string;
  /** The Telegram messenger to set up, if the bot has several. */
  readonly messenger?: string | undefined;
  /** Whether updates that wait are thrown away. */
  readonly dropPending: boolean;
  /** Whether the Bot API is Telegram's own, which needs https. */
  readonly isPublicApi: boolean;
  /** Asks the running bot for its messengers. */
  readonly messengers: () => Promise<readonly MessengerFacts[]>;
  readonly now: () => number;
}

export interface SetupResult {
  readonly bot: string;
  readonly webhook: string;
  readonly updates: readonly string[];
  /** Number of commands in the menu, which the bot sets by itself. */
  readonly commands: number;
  readonly state: WebhookState;
}

/** Ports to which Telegram delivers. */
const PORTS = new Set(["", "80", "88", "443", "8443"]);

/**
 * Sets a bot's webhook: address, secret and the kinds of updates that the running bot handles.
 *
 * @throws {ServeError} if the address cannot work or the bot does not answer
 * @throws {BotApiCallError} if Telegram refuses a call
 */
export async function setUpTelegram(options: SetupOptions): Promise<SetupResult> {
  const { api, dropPending, now, secret } = options;
  const address = webhookHost(options.url, options.isPublicApi);
  const startedAt = now();
  const me = await api.call("getMe", accountAnswer);
  const messenger = telegramMessenger(await options.messengers(), options.messenger);
  const webhook = new URL(messenger.path, address).href;
  const updates = messenger.updates ?? [];
  await api.call("setWebhook", doneAnswer, {
    url: webhook,
    secret_token: secret,
    allowed_updates: updates,
    ...(dropPending && { drop_pending_updates: true }),
  });
  const info = await api.call("getWebhookInfo", webhookInfoAnswer);
  return {
    bot: `@${me.username}`,
    webhook,
    updates,
    commands: messenger.commands.length,
    state: stateAfterSetup(info, { webhook, startedAt, nowMs: now() }),
  };
}

/**
 * Returns the Telegram messenger that is meant.
 *
 * @throws {ServeError} if there is none, or the bot has several and none is named
 */
export function telegramMessenger(
  messengers: readonly MessengerFacts[],
  id: string | undefined,
): MessengerFacts {
  const candidates = messengers.filter(({ provider }) => provider === "telegram");
  const found = id === undefined ? candidates : candidates.filter((candidate) => candidate.id === id);
  const [first, second] = found;
  const names = candidates.map((candidate) => candidate.id).join(", ");
  if (first === undefined) {
    throw new ServeError(
      "messenger-missing",
      id === undefined
        ? "The bot serves no Telegram. Add telegramMessenger() to its getMessengers()."
        : `The bot has no Telegram messenger "${id}". It has: ${names || "none"}.`,
    );
  }
  if (second !== undefined) {
    throw new ServeError(
      "messenger-ambiguous",
      `The bot has several Telegram messengers: ${names}. Name one with --messenger.`,
    );
  }
  return first;
}

function webhookHost(url: string, isPublicApi: boolean): string {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new ServeError(
      "url-malformed",
      `--url is ${JSON.stringify(url)}: give the public address of the bot, such as https://bot.example.com`,
    );
  }
  if (isPublicApi && parsed.protocol !== "https:") {
    throw new ServeError(
      "url-not-https",
      "Telegram delivers over https only. Give an https address; for a bot on this machine use: switchboard dev --telegram",
    );
  }
  if (isPublicApi && !PORTS.has(parsed.port)) {
    throw new ServeError(
      "url-port",
      `Telegram does not deliver to port ${parsed.port}, only to 443, 80, 88 and 8443.`,
    );
  }
  return parsed.origin;
}
