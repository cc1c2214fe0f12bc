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

/** Answers with rich messages: on one webhook they are edited while they grow, on the other they are drafts. */
export class RichBot extends Think<Env> {
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
      telegram: telegram("/messengers/telegram/webhook", {
        richMessages: true,
        footer: "_Written by a program._",
      }),
      drafting: telegram("/drafting", { richMessages: true, mode: "draft" }),
    });
  }
}

export default createWorker(RichBot);
