import type { Clock } from "./deps.ts";
import { failureCode, SwitchboardError } from "./errors.ts";
import type { Log, LogFields } from "./log.ts";
import { withinTime } from "./within-time.ts";

/** Longest time that a method of the bot may take where others wait for it, in milliseconds. */
export const BOT_CODE_LIMIT_MS = 30_000;

/** How many lines of a stack a log line gets. */
const FRAMES = 3;

/**
 * Runs a method of the bot. When it throws or takes too long, the log gets one line that says which method, what kind of error and where;
 * the message of a foreign error is left out, because it may quote what somebody wrote (I10). Our own errors are made
 * of safe words, so theirs is kept: it says how to put things right.
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
  log.error("bot.failed", { method, ...failureFields(error) });
}

/** What may be logged of an error that code of the bot threw: its kind and place, and the words of our own errors. */
export function failureFields(error: unknown): LogFields {
  return { ...causeFields(error), at: error instanceof Error ? frames(error) : undefined };
}

/** The same of one that came from a platform: our own words say it all, a place is of use for foreign ones only. */
export function platformFailureFields(error: unknown): LogFields {
  return error instanceof SwitchboardError ? causeFields(error) : failureFields(error);
}

function causeFields(error: unknown): LogFields {
  return {
    code: failureCode(error),
    message: error instanceof SwitchboardError ? error.message : undefined,
  };
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
