/** The shipped support bot, as its author would write it for the peer: the same prompt, tool and model. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Think } from "@cloudflare/think";
import { ThinkMessengerStateAgent } from "@cloudflare/think/messengers";
import telegramMessenger from "@cloudflare/think/messengers/telegram";
import { getAgentByName } from "agents";
import { tool } from "ai";
import { z } from "zod";
import { countRows, takeRowsWritten } from "../../worker/count-rows.ts";

export { ThinkMessengerStateAgent };

interface Env extends Cloudflare.Env {
  readonly SupportAgent: DurableObjectNamespace<SupportAgent>;
  readonly TELEGRAM_BOT_TOKEN: string;
  readonly TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  readonly TELEGRAM_BOT_USERNAME: string;
  readonly TELEGRAM_API_BASE_URL: string;
  readonly OPENAI_BASE_URL: string;
  readonly OPENAI_API_KEY: string;
  readonly MODEL: string;
  readonly COUNT_ROWS?: string;
}

export class SupportAgent extends Think<Env> {
  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    if (env.COUNT_ROWS) countRows(context.storage);
  }

  override getModel() {
    const provider = createOpenAICompatible({
      name: "openai-compatible",
      baseURL: this.env.OPENAI_BASE_URL,
      apiKey: this.env.OPENAI_API_KEY,
    });
    return provider(this.env.MODEL);
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
    return {
      lookup_order: tool({
        description: "Looks up one order of the shop by its number: status, items, delivery.",
        inputSchema: z.object({ id: z.string().describe("The order's number, e.g. 1001") }),
        execute: ({ id }) => ({ found: false, message: `There is no order with the number ${id}.` }),
      }),
    };
  }

  override getMessengers() {
    return {
      telegram: telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        userName: this.env.TELEGRAM_BOT_USERNAME,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        apiUrl: this.env.TELEGRAM_API_BASE_URL,
        mode: "webhook",
      }),
    };
  }
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return Response.json({ status: "ok" });
    if (pathname === "/bench/rows") return Response.json(takeRowsWritten());
    const root = await getAgentByName(env.SupportAgent, "default");
    return root.fetch(request);
  },
} satisfies ExportedHandler<Env>;
