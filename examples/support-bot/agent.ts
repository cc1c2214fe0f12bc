import { tool } from "ai";
import { modelFromEnv, Think, transcriberFromEnv } from "switchboard";
import type {
  BotEnvironment,
  CardPress,
  Content,
  LocationContent,
  ThinkCommands,
  ThinkTools,
  TranscriptionEnvironment,
} from "switchboard";
import { defineMessengers, type FetchableAttachment } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { z } from "zod";
import { invoice } from "./invoice.ts";
import { lookupOrder, type Order } from "./lookup-order.ts";
import { menuCard, type MenuPage } from "./menu.ts";
import { orderCard } from "./order-card.ts";
import { refundOrderAction } from "./refund-order.ts";

interface Env extends BotEnvironment, TranscriptionEnvironment {
  /** The shop's backend, without `/orders`. */
  ORDERS_API_URL?: string;
}

/** Payloads of the cards' buttons. */
type Action =
  | { readonly kind: "page"; readonly page: MenuPage }
  | { readonly kind: "status" | "invoice"; readonly id: string };

const SHOP: LocationContent = {
  kind: "location",
  latitude: 57.7072,
  longitude: 11.9668,
  title: "Coffee & Tea",
  address: "Kungsgatan 12, Gothenburg",
};

const inputSchema = z.object({
  id: z.string().trim().min(1).max(64).describe("The order's number, e.g. 1001"),
});

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
      "Use refund_order when the customer wants money back for an order, and names the order and the amount.",
      "You cannot change or cancel orders: for that the customer writes to help@shop.example.",
    ].join("\n");
  }

  /** The demo model takes the first tool that fits a sentence. */
  override getTools(): ThinkTools {
    return {
      track: this.#posts("Shows the customer an order as a card with picture and buttons.", orderCard),
      send_invoice: this.#posts("Sends the customer the invoice of an order as a PDF.", invoice),
      lookup_order: {
        ...tool({
          description: "Looks up one order of the shop by its number: status, items, delivery.",
          inputSchema,
          execute: async ({ id }, { abortSignal }) => {
            const result = await lookupOrder(this.env.ORDERS_API_URL, id, abortSignal);
            // Nobody reads the address of a picture.
            return result.found ? { ...result, order: { ...result.order, picture: undefined } } : result;
          },
        }),
        // It runs at once while a person is still writing, and again after a crash.
        annotations: { readOnly: true },
      },
      find_shop: {
        ...tool({
          description: "Sends the customer the location of the shop.",
          inputSchema: z.object({}),
          execute: async (_input, { toolCallId }) => {
            await this.#sayOnce(SHOP, toolCallId);
            return `You find our shop at ${SHOP.address}. It's open Monday to Friday, 9:00 to 17:00.`;
          },
        }),
        recovery: "rerun",
      },
    };
  }

  /** Larger refunds wait for a button in the chat. */
  override getActions() {
    return { refund_order: refundOrderAction(this.env.ORDERS_API_URL) };
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
      shop: { description: "Where our shop is", handler: () => SHOP },
    };
  }

  /** Turns a page of the menu, or does what a button of an order's card says. */
  override async onAction({ cardId, payload }: CardPress) {
    const action = payload as Action;
    if (action.kind === "page") {
      await this.revise(cardId, menuCard(action.page));
      return undefined;
    }
    const result = await lookupOrder(this.env.ORDERS_API_URL, action.id);
    if (!result.found) return { text: result.message, alert: true };
    if (action.kind === "invoice") {
      await this.say(await invoice(result.order));
      return "Here is your invoice.";
    }
    await this.revise(cardId, orderCard(result.order));
    return `Your order is ${result.order.status}.`;
  }

  override transcribe(audio: FetchableAttachment) {
    return transcriberFromEnv(this.env)?.(audio);
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }

  /** A tool that posts something about an order. */
  #posts(description: string, content: (order: Order) => Content | Promise<Content>): ThinkTools[string] {
    return {
      ...tool({
        description,
        inputSchema,
        execute: async ({ id }, { abortSignal, toolCallId }) => {
          const result = await lookupOrder(this.env.ORDERS_API_URL, id, abortSignal);
          if (!result.found) return result;
          await this.#sayOnce(await content(result.order), toolCallId);
          return "Here you are.";
        },
      }),
      // It may run again after a crash, because it posts once for each call.
      recovery: "rerun",
    };
  }

  async #sayOnce(content: Content, toolCallId: string): Promise<void> {
    const message = this.getMessengerContext()?.key ?? "";
    await this.say(content, undefined, { idempotencyKey: `${message}:${toolCallId}` });
  }
}
