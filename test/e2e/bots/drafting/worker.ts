import { createWorker, modelFromEnv, Think } from "switchboard";
import type { DeliveryPolicy, ModelEnvironment, ThinkModel } from "switchboard";
import { defineMessengers, type MessengerDefinition, type ThinkMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";

interface Env extends ModelEnvironment {
  TELEGRAM_BOT_TOKEN: string;
  TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  TELEGRAM_BOT_USERNAME?: string;
  TELEGRAM_API_BASE_URL?: string;
}

/** One bot on several webhooks, each with its own way of showing an answer that is being written. */
export class DraftingBot extends Think<Env> {
  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getMessengers(): ThinkMessengers {
    const telegram = (path: string, delivery: DeliveryPolicy): MessengerDefinition =>
      telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        userName: this.env.TELEGRAM_BOT_USERNAME,
        apiBaseUrl: this.env.TELEGRAM_API_BASE_URL,
        path,
        delivery,
      });
    return defineMessengers({
      telegram: telegram("/messengers/telegram/webhook", { mode: "draft" }),
      buffered: telegram("/buffered", { mode: "buffered" }),
      final: telegram("/final-only", { mode: "final-only", linkPreviews: true }),
    });
  }
}

export default createWorker(DraftingBot);
