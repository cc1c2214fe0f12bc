/**
 * The smallest bot: a model and a messenger, no tools. It also runs on earlier versions of the sources, so that a
 * comparison with them measures the product alone. With `BY_PERSON` a conversation follows a person.
 */
import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ConfiguredModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";

interface Env extends BotEnvironment {
  TELEGRAM_BOT_TOKEN: string;
  TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  BY_PERSON?: string;
}

export class PlainBot extends Think<Env> {
  // Earlier versions take nothing but the model itself.
  override getModel(): ConfiguredModel["model"] {
    return modelFromEnv(this.env).model;
  }

  override getMessengers(): ThinkMessengers {
    const { BY_PERSON, TELEGRAM_API_BASE_URL, TELEGRAM_BOT_TOKEN, TELEGRAM_BOT_USERNAME } = this.env;
    return defineMessengers({
      telegram: telegramMessenger({
        token: TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        userName: TELEGRAM_BOT_USERNAME,
        apiBaseUrl: TELEGRAM_API_BASE_URL,
        ...(BY_PERSON !== undefined && {
          conversation: ({ author, thread }) => ({
            target: "subagent" as const,
            name: author === undefined ? thread.id : `person/${author.userId}`,
          }),
        }),
      }),
    });
  }
}

export default createWorker(PlainBot);
