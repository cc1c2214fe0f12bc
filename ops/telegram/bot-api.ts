import { Api, GrammyError, HttpError } from "grammy";
import { z } from "zod";
import { ServeError } from "../serve/serve-error.ts";
import { wrongFields } from "../serve/wrong-fields.ts";

/**
 * - `conflict`: another program takes the bot's updates, or a webhook is set
 * - `busy`: Telegram asks to wait
 * - `unreachable`: no answer, or a failure of Telegram itself
 * - `unreadable`: an answer that the Bot API does not give
 * - `refused`: any other refusal
 */
type FailureKind = "token-refused" | "conflict" | "busy" | "unreachable" | "unreadable" | "refused";

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

type BotApiMethod =
  | "getMe"
  | "getWebhookInfo"
  | "getMyCommands"
  | "setWebhook"
  | "deleteWebhook"
  | "getUpdates";

const WITHOUT_PARAMETERS: ReadonlySet<BotApiMethod> = new Set<BotApiMethod>(["getMe", "getWebhookInfo"]);

/** The Bot API for one bot. */
export interface BotApi {
  /**
   * Makes one call.
   *
   * @param answer the fields of the result that are read
   * @throws {BotApiCallError} if Telegram refuses it, cannot be reached or answers something else
   */
  call<Result>(
    method: BotApiMethod,
    answer: z.ZodType<Result>,
    parameters?: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
  ): Promise<Result>;
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
    async call(method, answer, parameters, signal) {
      let result: unknown;
      try {
        // grammY's methods without parameters take the signal first.
        const given = WITHOUT_PARAMETERS.has(method) ? [signal] : [parameters ?? {}, signal];
        const invoke = api.raw[method] as (...given: readonly unknown[]) => Promise<unknown>;
        result = await invoke(...given);
      } catch (error) {
        throw callError(error, { method, token, where });
      }
      const parsed = answer.safeParse(result);
      if (parsed.success) return parsed.data;
      throw unreadable({ method, where }, wrongFields(parsed.error));
    },
  };
}

/** Describes a failure. The original error is dropped, because its address holds the token. */
function callError(
  error: unknown,
  call: { readonly method: BotApiMethod; readonly token: string; readonly where: string },
): BotApiCallError {
  const { token, where } = call;
  if (error instanceof GrammyError) {
    const refusal = refusalSchema.safeParse(error);
    if (!refusal.success) return unreadable(call, wrongFields(refusal.error));
    const words = refusal.data.description.replaceAll(token, "(token)");
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
  const failure: unknown = error instanceof HttpError ? error.error : error;
  if (failure instanceof Error && "type" in failure && failure.type === "invalid-json")
    return unreadable(call, "no JSON");
  const reason = reasonOf(failure);
  return new BotApiCallError(
    "unreachable",
    `The Bot API at ${where} cannot be reached${reason === undefined ? "" : ` (${reason})`}. Check the network, a proxy, and TELEGRAM_API_BASE_URL if it is set.`,
  );
}

/** A refusal, as the Bot API words it. */
const refusalSchema = z.object({ error_code: z.number(), description: z.string() });

function unreadable(
  { method, where }: { readonly method: BotApiMethod; readonly where: string },
  reason: string,
): BotApiCallError {
  return new BotApiCallError(
    "unreadable",
    `The answer to ${method} from ${where} is not one of the Bot API (${reason}). Check TELEGRAM_API_BASE_URL if it is set, and a proxy.`,
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
