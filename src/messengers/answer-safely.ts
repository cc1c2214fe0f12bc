import { logBotFailure } from "../core/bot-code.ts";
import type { Log } from "../core/log.ts";
import { problem } from "./webhook.ts";

/**
 * What a handler answers. When it throws, the answer tells nothing of it (I10) and the log has the rest: the base class
 * would answer with the error's stack.
 */
export async function answerSafely<T extends Response | undefined>(
  log: Log,
  handler: string,
  body: () => T | Promise<T>,
): Promise<T | Response> {
  try {
    return await body();
  } catch (error) {
    logBotFailure(log, handler, error);
    return problem(500, "internal-error", "The request could not be answered. The bot's log says more.");
  }
}
