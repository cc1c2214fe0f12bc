import { Api, GrammyError, HttpError } from "grammy";
import { ServeError } from "../serve/serve-error.ts";

/**
 * - `conflict`: another program takes the bot's updates, or a webhook is set
 * - `busy`: Telegram asks to wait
 * - `unreachable`: no answer, or a failure of Telegram itself
 * - `refused`: any other refusal
 */
type FailureKind = "token-refused" | "conflict" | "busy" | "unreachable" | "refused";

/** A failed call to the Bot API, in words. Neither the token nor an address that holds it is in it. */
export class BotApiCallError extends ServeError {
  readonly kind: FailureKind;
  /** Time that Telegram asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: FailureKind, message: string, retryAfterMs?: number) {
    super(`telegram-${kind}`, message);
    this.name = "BotApiCallError";
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The Bot API for one bot. */
export interface BotApi {
  /**
   * Makes one call.
   *
   * @throws {BotApiCallError} if Telegram refuses it or cannot be reached
   */
  call<Result>(run: (api: Api) => Promise<Result>): Promise<Result>;
}

export interface BotApiOptions {
  readonly token: string;
  /** A local Bot API server or a simulator. @default "https://api.telegram.org" */
  readonly apiBaseUrl?: string | undefined;
  /** Longest time of a call, in seconds. @default 60 */
  readonly timeoutSeconds?: number;
}

const DEFAULT_TIMEOUT_S = 60;

/** Opens the Bot API. Makes no call. */
export function createBotApi({ token, apiBaseUrl, timeoutSeconds }: BotApiOptions): BotApi {
  const api = new Api(token, {
    apiRoot: apiBaseUrl?.replace(/\/+$/, "") || "https://api.telegram.org",
    timeoutSeconds: timeoutSeconds ?? DEFAULT_TIMEOUT_S,
    sensitiveLogs: false,
  });
  const where = apiBaseUrl || "api.telegram.org";
  return {
    async call(run) {
      try {
        return await run(api);
      } catch (error) {
        throw callError(error, token, where);
      }
    },
  };
}

/** Describes a failure. The original error is dropped, because its address holds the token. */
function callError(error: unknown, token: string, where: string): BotApiCallError {
  if (error instanceof GrammyError) {
    const words = error.description.replaceAll(token, "(token)");
    switch (error.error_code) {
      case 401:
      case 404:
        return new BotApiCallError(
          "token-refused",
          "Telegram refuses the token. Copy it again from @BotFather to TELEGRAM_BOT_TOKEN.",
        );
      case 409:
        return new BotApiCallError("conflict", `Telegram says: ${words}.`);
      case 429:
        return new BotApiCallError(
          "busy",
          `Telegram asks to wait ${error.parameters.retry_after ?? 1} s.`,
          (error.parameters.retry_after ?? 1) * 1000,
        );
      default:
        if (error.error_code >= 500)
          return new BotApiCallError("unreachable", `Telegram has a problem (${error.error_code}).`);
        return new BotApiCallError("refused", `Telegram refuses it: ${words}.`);
    }
  }
  const reason = reasonOf(error instanceof HttpError ? error.error : error);
  return new BotApiCallError(
    "unreachable",
    `The Bot API at ${where} cannot be reached${reason === undefined ? "" : ` (${reason})`}. Check the network, a proxy, and TELEGRAM_API_BASE_URL if it is set.`,
  );
}

/** Returns the code of a network failure. Never a message, which may hold an address. */
function reasonOf(error: unknown): string | undefined {
  for (let cause = error, depth = 0; typeof cause === "object" && cause !== null && depth < 4; depth += 1) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
    cause = "cause" in cause ? cause.cause : undefined;
  }
  return undefined;
}
