import type { Clock } from "../base/deps.ts";
import { errorCode, failureCode, SwitchboardError } from "../base/errors.ts";
import type { Log, LogFields } from "../base/log.ts";
import { withinTime } from "./within-time.ts";

/** Longest time that a method of the bot may take while others wait for it, in milliseconds. */
export const BOT_CODE_LIMIT_MS = 30_000;

/** Lines of a stack in one log line: all that V8 keeps. Only readers with the source map can tell the author's lines. */
const FRAMES = 10;

/** Longest chain of causes of an error to follow. */
const CAUSES = 3;

/**
 * Runs a method of the bot. If it throws or takes too long, one log line tells the method, the kind of error and the
 * place.
 *
 * The line has the message of our own errors, because it tells the fix. It has the message of other errors during
 * development only, because they may quote a chat (I10).
 *
 * @throws {SwitchboardError} `bot-code-failed`, which names the method only
 */
export async function runBotCode<T>(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  method: string,
  body: () => T | Promise<T>,
): Promise<T> {
  try {
    return await withinTime(clock, BOT_CODE_LIMIT_MS, body(), `${method}()`);
  } catch (error) {
    logBotFailure(log, method, error);
    throw new SwitchboardError("bot-code-failed", `${method}() of the bot failed. The bot's log says more.`);
  }
}

export function logBotFailure(log: Log, method: string, error: unknown): void {
  log.error("bot.failed", { method, ...failureFields(log, error) });
}

/**
 * Returns what may be logged of an error that the bot's code threw: its kind and place, and its message as far as the
 * log reveals it.
 */
export function failureFields(log: Pick<Log, "reveal">, error: unknown): LogFields {
  return { ...causeFields(log, error), at: error instanceof Error ? frames(error) : undefined };
}

/** Returns what may be logged of an error that came from a platform. Only foreign errors have a place. */
export function platformFailureFields(log: Pick<Log, "reveal">, error: unknown): LogFields {
  return error instanceof SwitchboardError ? causeFields(log, error) : failureFields(log, error);
}

/** True if the log has a line about an error already, from the bot's code or from the guard around the model. */
export function isLogged(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  return "retryable" in error || errorCode(error) === "bot-code-failed";
}

function causeFields(log: Pick<Log, "reveal">, error: unknown): LogFields {
  return {
    code: failureCode(error),
    message: error instanceof SwitchboardError ? error.message : log.reveal(wordsOf(error)),
  };
}

/** Joins the messages of an error and of its causes. */
function wordsOf(error: unknown): string {
  const messages: string[] = [];
  for (let cause = error; messages.length <= CAUSES;) {
    if (!(cause instanceof Error)) {
      messages.push(typeof cause === "string" ? cause : typeof cause);
      break;
    }
    messages.push(cause.message);
    if (cause.cause === undefined || cause.cause === null) break;
    cause = cause.cause;
  }
  return messages.join(" (cause) ");
}

/** Returns the top of a stack. The message before it is cut off, because its lines may look like a stack. */
function frames({ message, stack = "" }: Error): string | undefined {
  const messageAt = stack.indexOf(message);
  if (messageAt === -1) return undefined;
  const places = stack
    .slice(messageAt + message.length)
    .split("\n")
    .filter((line) => /^\s+at /.test(line));
  return places.length === 0
    ? undefined
    : places
        .slice(0, FRAMES)
        .map((line) => line.trim())
        .join(" < ");
}
