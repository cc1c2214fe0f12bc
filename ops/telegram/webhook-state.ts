import type { WebhookInfo } from "./bot-api-answers.ts";

/** The state of a bot's webhook, for people. */
export interface WebhookState {
  /**
   * - `none`: no webhook is set
   * - `failing`: the last delivery failed, and updates wait
   * - `recovered`: a delivery failed some time ago, and no update waits now
   * - `working`: nothing is known to fail
   * - `unconfirmed`: it was set just now, and Telegram names another address or none
   */
  readonly kind: "none" | "failing" | "recovered" | "working" | "unconfirmed";
  /** One sentence. */
  readonly summary: string;
  /** Undefined unless a delivery has failed. */
  readonly lastError?: { readonly at: string; readonly message: string };
  /** How to repair it. Undefined if nothing has to be done. */
  readonly fix?: string;
}

/** A failure that is older than this, with no update waiting, is over. */
const RECENT_S = 5 * 60;

/** Describes the answer of `getWebhookInfo`. */
export function webhookState(info: WebhookInfo, nowMs: number): WebhookState {
  if (!info.url) {
    const waiting = info.pending_update_count;
    return {
      kind: "none",
      summary: `No webhook is set, so Telegram delivers nothing${waiting > 0 ? `; ${waitingUpdates(waiting)}` : ""}.`,
      fix: "Run: switchboard telegram setup --url https://<address of the bot>",
    };
  }
  const failedAt = info.last_error_date ?? undefined;
  const message = info.last_error_message ?? "unknown error";
  const waiting = info.pending_update_count;
  const waitingWords = waiting > 0 ? waitingUpdates(waiting) : "no update waits";
  if (failedAt === undefined) {
    return { kind: "working", summary: `Telegram delivers to ${info.url}; ${waitingWords}.` };
  }
  const lastError = { at: new Date(failedAt * 1000).toISOString(), message };
  const ago = agoOf(nowMs / 1000 - failedAt);
  const isOver = waiting === 0 && nowMs / 1000 - failedAt > RECENT_S;
  if (isOver) {
    return {
      kind: "recovered",
      summary: `Telegram delivers to ${info.url}; ${waitingWords}. The last failure was ${ago}: ${message}.`,
      lastError,
    };
  }
  return {
    kind: "failing",
    summary: `Telegram could not deliver to ${info.url} ${ago}: ${message}; ${waitingWords}.`,
    lastError,
    fix: fixOf(message),
  };
}

/** Describes the answer of `getWebhookInfo` right after a webhook was set. Failures before that do not count. */
export function stateAfterSetup(
  info: WebhookInfo,
  {
    nowMs,
    startedAt,
    webhook,
  }: { readonly webhook: string; readonly startedAt: number; readonly nowMs: number },
): WebhookState {
  if (URL.parse(info.url)?.href !== webhook) {
    return {
      kind: "unconfirmed",
      summary: `Telegram accepted the address, but names ${info.url || "none"} when it is asked.`,
      fix: "Look again in a minute: switchboard telegram info. If it stays so, another program sets the webhook of this bot.",
    };
  }
  const isOfBefore = (info.last_error_date ?? 0) * 1000 < startedAt;
  return webhookState(isOfBefore ? { ...info, last_error_date: undefined } : info, nowMs);
}

const FIXES: readonly (readonly [RegExp, string])[] = [
  [
    /401/,
    "The bot expects another secret. Set TELEGRAM_WEBHOOK_SECRET_TOKEN to the same value for the bot and here, and run: switchboard telegram setup",
  ],
  [/404/, "Nothing answers at this path. Compare it with the messenger's `path`, and run setup again."],
  [/405/, "Something else than the bot answers there. Check the address, and the proxy in front of the bot."],
  [/\b503\b/, "The bot cannot store updates now. Ask GET /health of the bot for the reason."],
  [/\b5\d\d\b/, "The bot, or the proxy in front of it, fails. See the bot's log and GET /health."],
  [
    /refused|timed? ?out|timeout expired|no route|unreachable/i,
    "The bot does not run, or its port is not open to the internet.",
  ],
  [/resolve|ENOTFOUND/i, "The host's name is unknown. Check the address and its DNS record."],
  [
    /SSL|certificate|TLS/i,
    "The certificate is not accepted. It must be valid, complete with its chain, and made for this host.",
  ],
  [/redirect|30[1278]/i, "The address redirects. Give setup the address at the end of the redirection."],
  [/IP address .* is reserved/i, "The host's name leads to a private address. Telegram needs a public one."],
];

function fixOf(message: string): string {
  return (
    FIXES.find(([pattern]) => pattern.test(message))?.[1] ??
    "See the bot's log and GET /health, then run: switchboard telegram info"
  );
}

function waitingUpdates(count: number): string {
  return count === 1 ? "1 update waits" : `${count} updates wait`;
}

function agoOf(seconds: number): string {
  if (seconds < 60) return "just now";
  const [value, unit] =
    seconds < 3600
      ? [Math.round(seconds / 60), "minute"]
      : seconds < 86_400
        ? [Math.round(seconds / 3600), "hour"]
        : [Math.round(seconds / 86_400), "day"];
  return `${value} ${unit}${value === 1 ? "" : "s"} ago`;
}
