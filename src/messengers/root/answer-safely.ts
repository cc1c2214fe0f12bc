import type { Agent } from "agents";
import { logBotFailure } from "../../core/time/bot-code.ts";
import { failureCode, SwitchboardError } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import { problem } from "../../core/web/problem.ts";

/**
 * Returns a handler's response. If the handler throws, the response says nothing about it (I10), and the log has the
 * details. The base class would answer with the error's stack.
 */
export async function answerSafely<T extends Response | undefined>(
  log: Log,
  handler: string,
  body: () => T | Promise<T>,
): Promise<T | Response> {
  try {
    return await body();
  } catch (error) {
    if (failureCode(error) === "data-newer") {
      // An older version will not help, but the right one takes the request when the platform sends it again.
      log.error("root.failed", { code: "data-newer" });
      return problem(503, "unavailable", "The bot is unavailable right now. Please try again.", {
        "retry-after": "60",
      });
    }
    logBotFailure(log, handler, error);
    return problem(500, "internal-error", "The request could not be answered. See the bot's log.");
  }
}

/**
 * Wraps a method of the bot that the base class calls. If it throws, the log gets the error's kind and place. The error
 * is thrown on without its message and stack, because the base class shows them to clients and logs them (I10).
 *
 * @throws {SwitchboardError} `bot-code-failed`
 */
export function failSafely<Parameters extends readonly unknown[], T>(
  log: Log,
  method: string,
  body: (...parameters: Parameters) => T | Promise<T>,
): (...parameters: Parameters) => Promise<T> {
  return async (...parameters) => {
    try {
      return await body(...parameters);
    } catch (error) {
      logBotFailure(log, method, error);
      const safe = new SwitchboardError(
        "bot-code-failed",
        `${method}() of the bot failed; its log says more.`,
      );
      safe.stack = safe.message;
      throw safe;
    }
  };
}

/** Guards the methods of the bot that the base class calls. */
export function guardEvents(agent: Agent, log: Log): void {
  const onRequest = agent.onRequest.bind(agent);
  agent.onRequest = (request) => answerSafely(log, "onRequest", () => onRequest(request));
  agent.onStart = failSafely(log, "onStart", agent.onStart.bind(agent));
  agent.onConnect = failSafely(log, "onConnect", agent.onConnect.bind(agent));
  agent.onMessage = failSafely(log, "onMessage", agent.onMessage.bind(agent));
  agent.onClose = failSafely(log, "onClose", agent.onClose.bind(agent));
  agent.getConnectionTags = failSafely(log, "getConnectionTags", agent.getConnectionTags.bind(agent));
}
