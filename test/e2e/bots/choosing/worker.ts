import { createWorker, modelFromEnv, Think } from "switchboard";
import type { ModelEnvironment, ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";

interface Env extends ModelEnvironment {
  TELEGRAM_BOT_TOKEN: string;
  TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  TELEGRAM_BOT_USERNAME?: string;
  TELEGRAM_API_BASE_URL?: string;
}

/** A bot whose chats ask for a class of their own. */
export class Shop extends Think<Env> {
  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getSystemPrompt(): string {
    return "You are the shop.";
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({
      telegram: telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        userName: this.env.TELEGRAM_BOT_USERNAME,
        apiBaseUrl: this.env.TELEGRAM_API_BASE_URL,
        burstMs: 0,
        conversation: ({ message, thread }) => ({
          target: "subagent",
          name: thread.chatId,
          ...(message?.text.includes("salon") === true && { agentClass: Salon }),
        }),
      }),
    });
  }
}

export class Salon extends Shop {
  override getSystemPrompt(): string {
    return "You are the salon.";
  }
}

export default createWorker(Shop);
