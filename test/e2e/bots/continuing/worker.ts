import { createWorker, modelFromEnv, Think, type ModelEnvironment, type ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";

interface Env extends ModelEnvironment {
  TELEGRAM_BOT_TOKEN: string;
  TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  TELEGRAM_BOT_USERNAME?: string;
  TELEGRAM_API_BASE_URL?: string;
}

/** A bot whose model is known to go on from a partial answer. */
export class ContinuingBot extends Think<Env> {
  override interruptedStep = "continue" as const;

  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({
      telegram: telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        userName: this.env.TELEGRAM_BOT_USERNAME,
        apiBaseUrl: this.env.TELEGRAM_API_BASE_URL,
      }),
    });
  }
}

export default createWorker(ContinuingBot);
