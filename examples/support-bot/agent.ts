import { modelFromEnv, Think, transcriberFromEnv } from "switchboard";
import type { BotEnvironment, CardPress, ThinkCommands, TranscriptionEnvironment } from "switchboard";
import { defineMessengers, type FetchableAttachment } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { lookupOrderTool } from "./lookup-order.ts";
import { menuCard, type MenuPage } from "./menu.ts";

interface Env extends BotEnvironment, TranscriptionEnvironment {
  /** The shop's backend, without `/orders`. */
  ORDERS_API_URL?: string;
}

/** The support assistant of a small shop for coffee and tea. */
export class SupportAgent extends Think<Env> {
  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return [
      "You are the support assistant of a small online shop for coffee and tea.",
      "Answer in the language of the customer, briefly and friendly. You are in a chat: no headings, short paragraphs.",
      "Use lookup_order for every question about an order, and only say about orders what it returns.",
      "If an order is not found, ask for its number again; it is in the confirmation mail.",
      "You cannot change, cancel or refund orders: for that the customer writes to help@shop.example.",
    ].join("\n");
  }

  override getTools() {
    return { lookup_order: lookupOrderTool(this.env.ORDERS_API_URL) };
  }

  override getCommands(): ThinkCommands {
    return {
      menu: { description: "Show the topics", handler: () => menuCard("Menu") },
      order: {
        description: "Where is my order? For example: /order 1001",
        handler: ({ args }) =>
          args === "" ? "Which order? For example: /order 1001" : { prompt: `Where is my order ${args}?` },
      },
      hours: {
        description: "When our team answers",
        handler: () => "Our team answers Monday to Friday, 9:00 to 17:00. I'm here all the time.",
      },
    };
  }

  /** Turns the page of the menu that was pressed. */
  override async onAction({ cardId, payload }: CardPress) {
    await this.revise(cardId, menuCard(payload as MenuPage));
  }

  override transcribe(audio: FetchableAttachment) {
    return transcriberFromEnv(this.env)?.(audio);
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}
