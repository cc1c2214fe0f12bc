import { logBotFailure } from "../../core/bot-code.ts";
import { failureCode } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { ThinkMessengers } from "../../core/messenger.ts";
import { normalizeMessengers } from "./define-messengers.ts";
import type { NormalizedMessengerDefinition } from "./define-messengers.ts";

/**
 * Returns a function that reads the bot's messengers once. While they cannot be read, every call tries again and throws,
 * but the log names an error once.
 */
export function messengersReader(
  bot: { getMessengers(): ThinkMessengers },
  log: Log,
): () => readonly NormalizedMessengerDefinition[] {
  let definitions: readonly NormalizedMessengerDefinition[] | undefined;
  let loggedCode: string | undefined;
  return () => {
    try {
      definitions ??= normalizeMessengers(bot.getMessengers());
      return definitions;
    } catch (error) {
      const code = failureCode(error);
      if (loggedCode !== code) logBotFailure(log, "getMessengers", error);
      loggedCode = code;
      throw error;
    }
  };
}
