import { logBotFailure } from "../../core/time/bot-code.ts";
import type { BotTexts } from "../../core/text/bot-texts.ts";
import { failureCode } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import type { ThinkMessengers } from "../../core/chat/messenger.ts";
import { leftOut, normalizeMessengers } from "./define-messengers.ts";
import type { LeftOutMessenger, NormalizedMessengerDefinition } from "./define-messengers.ts";
import { withBotTexts } from "./texts.ts";

export interface ReadMessengers {
  readonly definitions: readonly NormalizedMessengerDefinition[];
  readonly leftOut: readonly LeftOutMessenger[];
}

/**
 * Returns a function that reads the bot's messengers once. While they cannot be read, every call tries again and throws,
 * but the log names an error once.
 */
export function messengersReader(
  bot: { getMessengers(): ThinkMessengers; readonly texts?: BotTexts },
  log: Log,
  env: object = {},
): () => ReadMessengers {
  let read: ReadMessengers | undefined;
  let loggedCode: string | undefined;
  const readAll = (): ReadMessengers => {
    const messengers = bot.getMessengers();
    const definitions = normalizeMessengers(messengers).map((definition) => {
      definition.platform.checkEnvironment?.(env);
      return { ...definition, delivery: withBotTexts(definition.delivery, bot.texts ?? {}) };
    });
    return { definitions, leftOut: leftOut(messengers) };
  };
  return () => {
    try {
      return (read ??= readAll());
    } catch (error) {
      const code = failureCode(error);
      if (loggedCode !== code) logBotFailure(log, "getMessengers", error);
      loggedCode = code;
      throw error;
    }
  };
}
