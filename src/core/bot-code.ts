import type { Clock } from "./deps.ts";
import { errorCode, failureCode, SwitchboardError } from "./errors.ts";
import type { Log, LogFields } from "./log.ts";
import { withinTime } from "./within-time.ts";

/** Longest time that a method of the bot may take where others wait for it, in milliseconds. */
export const BOT_CODE_LIMIT_MS = 30_000;

/**
 * How many lines of a stack a log line gets: all that V8 keeps, because only those who know the source map can tell the
 * author's from others.
 */
const FRAMES = 10;

/** How many causes of an error are followed. */
const CAUSES = 3;

/**
 * Runs a method of the bot. When it throws or takes too long, the log gets one line that says which method, what kind
 * of error and where. The message of a foreign error is in it during development only, because it may quote what
 * somebody wrote (I10). Our own errors are made of safe words, so theirs is kept: it says how to put things right.
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
    throw new SwitchboardError("bot-code-failed", `${method}() of the bot failed; its log says more.`);
  }
}

export function logBotFailure(log: Log, method: string, error: unknown): void {
  log.error("bot.failed", { method, ...failureFields(log, error) });
}

/** What a log may say of an error that code of the bot threw: its kind and place, and its words as far as it reveals them. */
export function failureFields(log: Pick<Log, "reveal">, error: unknown): LogFields {
  return { ...causeFields(log, error), at: error instanceof Error ? frames(error) : undefined };
}

/** What a log may say of an error that came from a platform. Our own words say it all; a place helps with foreign ones. */
export function platformFailureFields(log: Pick<Log, "reveal">, error: unknown): LogFields {
  return error instanceof SwitchboardError ? causeFields(log, error) : failureFields(log, error);
}

/** Whether the log has a line about an error already: that of the bot's code, or of the guard around the model. */
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

/** The message of an error and those of its causes. */
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

/** The places of a stack. The message in front of them is cut off: its own lines may look like places. */
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
