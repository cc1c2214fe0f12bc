import { tool } from "ai";
import type { Content, ThinkTools } from "switchboard";
import { z } from "zod";
import { lookupOrder, type Order } from "./lookup-order.ts";
import { orderCard } from "./order-card.ts";
import { orderId } from "./shop.ts";
import { HOURS, NOT_REACHED, SHOP, WHERE, euros } from "./texts.ts";

interface ToolsHost {
  readonly baseUrl: string | undefined;
  /** Sends content, once for each call of a tool. */
  readonly sayOnce: (content: Content, toolCallId: string) => Promise<void>;
}

const inputSchema = z.object({ id: orderId });
const nothing = z.object({});
const productsSchema = z.object({
  products: z.array(z.object({ name: z.string(), priceCents: z.number() })),
});

/** Tools that change nothing in the shop. The demo model takes the first one that fits a sentence. */
export function supportTools({ baseUrl, sayOnce }: ToolsHost): ThinkTools {
  const posts = (description: string, content: (order: Order) => Content): ThinkTools[string] => ({
    ...tool({
      description,
      inputSchema,
      execute: async ({ id }, { abortSignal, toolCallId }) => {
        const result = await lookupOrder(baseUrl, id, abortSignal);
        if (!result.found) return result;
        await sayOnce(content(result.order), toolCallId);
        return "Here you are.";
      },
    }),
    // It may run again after a crash, because it posts once for each call.
    recovery: "rerun",
  });
  return {
    track: posts("Shows the customer an order as a card with picture and buttons.", orderCard),
    lookup_order: {
      ...tool({
        description: "Looks up one order of the shop by its number: status, items, delivery.",
        inputSchema,
        execute: async ({ id }, { abortSignal }) => {
          const result = await lookupOrder(baseUrl, id, abortSignal);
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
        inputSchema: nothing,
        execute: async (_input, { toolCallId }) => {
          await sayOnce(SHOP, toolCallId);
          return WHERE;
        },
      }),
      recovery: "rerun",
    },
    opening_hours: {
      ...tool({
        description: "When the shop is open and the team answers.",
        inputSchema: nothing,
        execute: () => HOURS,
      }),
      annotations: { readOnly: true },
    },
    list_products: {
      ...tool({
        description: "What the shop sells, with prices.",
        inputSchema: nothing,
        execute: (_input, { abortSignal }) => productsIn(baseUrl, abortSignal),
      }),
      annotations: { readOnly: true },
    },
  };
}

async function productsIn(baseUrl: string | undefined, signal: AbortSignal | undefined): Promise<string> {
  try {
    const response = await fetch(`${(baseUrl ?? "").replace(/\/+$/, "")}/products`, {
      signal: signal ?? null,
    });
    const { products } = productsSchema.parse(await response.json());
    return [
      "We sell:",
      "",
      ...products.map(({ name, priceCents }) => `- ${name}: ${euros(priceCents)}`),
    ].join("\n");
  } catch {
    // No connection, or an answer without products: the customer need not know which.
    return `${NOT_REACHED} Please try again later.`;
  }
}
