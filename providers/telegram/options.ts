import type { Api } from "grammy/web";
import type { Update } from "grammy/types";
import { checkOptions, FLAG, FUNCTION } from "../../src/core/json/check-options.ts";
import type { OptionRules } from "../../src/core/json/check-options.ts";
import { ConfigurationError } from "../../src/core/base/errors.ts";
import { MESSENGER_OPTION_NAMES } from "../../src/core/chat/messenger-options.ts";
import type { MessengerOptions } from "../../src/core/chat/messenger.ts";
import { pacingFrom } from "../../src/core/chat/pacing.ts";
import type { Pacing } from "../../src/core/chat/surface.ts";

/** The options of `telegramMessenger`, in addition to those of every messenger. */
export interface TelegramMessengerOptions extends MessengerOptions {
  /** The bot's token, as @BotFather shows it: `123456:ABC...`. */
  readonly token: string;
  /**
   * The `secret_token` that you gave to `setWebhook`: 1 to 256 characters of `A-Z a-z 0-9 _ -`. Required, unless
   * `verifyWebhook` is a function or `false`.
   */
  readonly secretToken?: string;
  /** The bot's user name. @default Telegram is asked when a message needs it, then once a day */
  readonly userName?: string;
  /**
   * Whether clients offer the bot's commands in private chats and groups (`setMyCommands`). Set it to `false` to keep
   * @BotFather's list. @default true
   */
  readonly commandMenu?: boolean;
  /**
   * Whether people's reactions reach the bot's `onReaction`. The webhook must ask for them: `allowedUpdatesFor`. In
   * groups Telegram reports them only to administrators. @default false
   */
  readonly reactions?: boolean;
  /**
   * Called with every update that Switchboard does not handle, such as payments, inline queries, join requests and
   * kinds of a newer Bot API. The update is raw, and stored before. The webhook must ask for these kinds:
   * `allowedUpdatesFor`.
   *
   * Runs in the object of the update's chat. Updates without a chat have an object of their own. Runs at least once for
   * each update: if the process dies meanwhile, it runs again with the same `update_id`. If it throws or takes longer
   * than 30 seconds, the log says so, and it does not run again. @default unhandled updates are counted and ignored
   *
   * @example
   * onUpdate: async ({ update, api }) => {
   *   if (update.pre_checkout_query) await api.answerPreCheckoutQuery(update.pre_checkout_query.id, true);
   * }
   */
  readonly onUpdate?: (context: TelegramUpdateContext) => void | Promise<void>;
  /** A local Bot API server or a simulator. @default "https://api.telegram.org" */
  readonly apiBaseUrl?: string;
  /**
   * How often Telegram may be called, where it differs from the defaults: in a private chat 3 calls at once and one a
   * second; in a group 3 at once and 20 in any minute, for all its topics together; for the whole bot 30 at once and
   * about 30 a second.
   */
  readonly pacing?: Partial<Pacing>;
  /** The network, for tests. @default the runtime's own */
  readonly fetch?: typeof fetch;
}

/** An update that the bot's own code handles. */
export interface TelegramUpdateContext {
  /** The update as Telegram sent it. Only its `update_id` is checked. */
  readonly update: Update;
  /**
   * The Bot API, with the bot's token. Its calls are outside of the chat's budget and the outbox. They are never
   * repeated or slowed down, and a crash may lose them. A failed call rejects with a `TelegramCallError`.
   */
  readonly api: Api;
}

/** The checked options. */
export interface TelegramSettings {
  readonly token: string;
  /** The bot's user id: the digits in front of the token's colon. */
  readonly botId: string;
  readonly secretToken: string | undefined;
  /** Without `@`. */
  readonly userName: string | undefined;
  readonly commandMenu: boolean;
  /** Without a slash at the end. */
  readonly apiBaseUrl: string;
  readonly pacing: Pacing;
  readonly fetch: typeof fetch | undefined;
  readonly reactions: boolean;
  readonly onUpdate: TelegramMessengerOptions["onUpdate"];
}

const optionRules: OptionRules<TelegramMessengerOptions> = {
  ...MESSENGER_OPTION_NAMES,
  token: true,
  secretToken: true,
  userName: true,
  commandMenu: FLAG,
  apiBaseUrl: true,
  pacing: true,
  fetch: FUNCTION,
  reactions: FLAG,
  onUpdate: FUNCTION,
};

const defaultApiBaseUrl = "https://api.telegram.org";

/**
 * The Bot API's published limits (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this). In
 * a group, a minute that begins with a burst has room for 17 more calls.
 */
const defaultPacing: Pacing = {
  direct: { burst: 3, everyMs: 1000 },
  group: { burst: 3, everyMs: 3500 },
  global: { burst: 30, everyMs: 34 },
};

/**
 * Checks the options before anything runs. No message repeats a token or a secret.
 *
 * @throws {ConfigurationError} if an option is missing or cannot work; the message says how to fix it
 */
export function parseTelegramOptions(options: TelegramMessengerOptions): TelegramSettings {
  checkOptions<TelegramMessengerOptions>(options, optionRules, { owner: "telegramMessenger" });
  // Options often come directly from an environment, which may not have what the types promise.
  const token: unknown = options.token;
  if (typeof token !== "string" || token === "") {
    throw new ConfigurationError(
      "telegram-token-missing",
      "telegramMessenger needs `token`: set it to the token that @BotFather gave you (TELEGRAM_BOT_TOKEN).",
    );
  }
  const botId = /^(\d{1,20}):[\w-]+$/.exec(token)?.[1];
  if (botId === undefined) {
    throw new ConfigurationError(
      "telegram-token-malformed",
      "telegramMessenger's `token` is not of the form `123456:ABC...`: copy it from @BotFather without quotes, spaces or the word `bot`.",
    );
  }
  return {
    token,
    botId,
    secretToken: parseSecretToken(options),
    userName: parseUserName(options.userName),
    commandMenu: options.commandMenu !== false,
    apiBaseUrl: parseApiBaseUrl(options.apiBaseUrl),
    pacing: pacingFrom("telegramMessenger", defaultPacing, options.pacing),
    fetch: options.fetch,
    reactions: options.reactions === true,
    onUpdate: options.onUpdate,
  };
}

function parseSecretToken({ secretToken, verifyWebhook }: TelegramMessengerOptions): string | undefined {
  if (secretToken === undefined || secretToken === "") {
    if (typeof verifyWebhook === "function" || verifyWebhook === false) return undefined;
    throw new ConfigurationError(
      "telegram-secret-missing",
      "telegramMessenger needs `secretToken` (TELEGRAM_WEBHOOK_SECRET_TOKEN): choose 1 to 256 characters of A-Z a-z 0-9 _ - and give the same to setWebhook; or set `verifyWebhook` to a function, or to `false` to accept unverified requests.",
    );
  }
  if (typeof secretToken !== "string" || !/^[\w-]{1,256}$/.test(secretToken)) {
    throw new ConfigurationError(
      "telegram-secret-malformed",
      "telegramMessenger's `secretToken` must be 1 to 256 characters of A-Z a-z 0-9 _ -, as setWebhook demands.",
    );
  }
  return secretToken;
}

function parseUserName(userName: string | undefined): string | undefined {
  const name = userName?.trim().replace(/^@/, "");
  if (name === undefined || name === "") return undefined;
  if (!/^\w{1,64}$/.test(name)) {
    throw new ConfigurationError(
      "telegram-user-name-malformed",
      `telegramMessenger's \`userName\` is ${JSON.stringify(userName)}: give the bot's user name, such as support_bot, without a link.`,
    );
  }
  return name;
}

function parseApiBaseUrl(apiBaseUrl: string | undefined): string {
  if (apiBaseUrl === undefined || apiBaseUrl === "") return defaultApiBaseUrl;
  const url = URL.parse(apiBaseUrl);
  const isHttp = url?.protocol === "https:" || url?.protocol === "http:";
  if (!isHttp || url.search !== "" || url.hash !== "" || url.username !== "" || url.password !== "") {
    throw new ConfigurationError(
      "telegram-api-base-url-malformed",
      "telegramMessenger's `apiBaseUrl` (TELEGRAM_API_BASE_URL) must be an http or https address without user, query and fragment, such as https://api.telegram.org.",
    );
  }
  return apiBaseUrl.replace(/\/+$/, "");
}
