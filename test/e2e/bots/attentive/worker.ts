import { tool } from "ai";
import { createWorker, modelFromEnv, Think } from "switchboard";
import type { ModelEnvironment, ThinkModel, ThinkTools } from "switchboard";
import { defineMessengers, type MessengerDefinition, type ThinkMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";
import { z } from "zod";

interface Env extends ModelEnvironment {
  TELEGRAM_BOT_TOKEN: string;
  TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  TELEGRAM_BOT_USERNAME?: string;
  TELEGRAM_API_BASE_URL?: string;
}

/** One bot on several webhooks, each with its own way of treating a person who says more. */
export class AttentiveBot extends Think<Env> {
  #orders: string[] = [];

  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getTools(): ThinkTools {
    return {
      place_order: tool({
        description: "Places an order. Not to be done twice.",
        inputSchema: z.object({ item: z.string() }),
        execute: ({ item }) => {
          this.#orders.push(item);
          return { placed: this.#orders };
        },
      }),
      look_up: {
        ...tool({
          description: "Looks something up.",
          inputSchema: z.object({ what: z.string() }),
          execute: ({ what }) => ({ found: `all about ${what}` }),
        }),
        annotations: { readOnly: true },
      },
    };
  }

  override getMessengers(): ThinkMessengers {
    const telegram = (
      path: string,
      options: Partial<
        Pick<MessengerDefinition, "burstMs" | "whenBusy" | "rerunOnEdit" | "respondTo" | "delivery">
      >,
    ): MessengerDefinition =>
      telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        userName: this.env.TELEGRAM_BOT_USERNAME,
        apiBaseUrl: this.env.TELEGRAM_API_BASE_URL,
        path,
        ...options,
      });
    return defineMessengers({
      telegram: telegram("/messengers/telegram/webhook", { burstMs: 1500 }),
      steered: telegram("/steered", { burstMs: 0, whenBusy: "steer" }),
      interrupted: telegram("/interrupted", { burstMs: 0, whenBusy: "interrupt" }),
      filtered: telegram("/filtered", {
        burstMs: 0,
        respondTo: ["direct-message", "mention", "subscribed-thread"],
        delivery: {
          footer: ({ locale }) => (locale === "de" ? "_Ihr Laden_" : "_Your shop_"),
          transform: (text) => text.replaceAll("colour", "color"),
        },
      }),
      edited: telegram("/edited", { burstMs: 0, rerunOnEdit: true }),
    });
  }
}

export default createWorker(AttentiveBot);
