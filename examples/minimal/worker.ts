import { createWorker, modelFromEnv, Think, type ModelEnvironment } from "switchboard";
import { defineMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";

interface Env extends ModelEnvironment {
  TELEGRAM_BOT_TOKEN: string;
  TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  TELEGRAM_API_BASE_URL?: string;
}

export class MyBot extends Think<Env> {
  override getModel() {
    return modelFromEnv(this.env).model;
  }

  override getSystemPrompt() {
    return "You are a friendly assistant. Answer in a few short sentences.";
  }

  override getMessengers() {
    return defineMessengers({
      telegram: telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        apiBaseUrl: this.env.TELEGRAM_API_BASE_URL,
      }),
    });
  }
}

export default createWorker(MyBot);
