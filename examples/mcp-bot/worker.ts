import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkActions } from "switchboard";
import { mcpServer } from "switchboard/mcp";
import { defineMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { z } from "zod";

interface Env extends BotEnvironment {
  WarehouseBot: DurableObjectNamespace<WarehouseBot>;
}

const STOCK: Readonly<Record<string, number>> = { "mug-blue": 12, "mug-red": 3, "tea-green": 40 };

/** Knows the stock of a warehouse. People ask it in their chats, and other agents use its actions at `/mcp`. */
export class WarehouseBot extends Think<Env> {
  static override mcpServer = mcpServer({ app: "warehouse" });

  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return "You help the people of a warehouse. Look at the stock before you say anything about it.";
  }

  override getActions(): ThinkActions {
    const root = this.env.WarehouseBot.getByName("default");
    const sku = z.string().describe(`One of: ${Object.keys(STOCK).join(", ")}`);
    const quantity = z.int().min(1).max(100);
    return {
      stock: action({
        description: "Says how many pieces of an article are free.",
        inputSchema: z.object({ sku }),
        annotations: { readOnly: true },
        execute: async (input) => ({ sku: input.sku, free: await root.free(input.sku) }),
      }),
      reserve: action({
        description: "Reserves pieces of an article for an order.",
        inputSchema: z.object({ order: z.string().min(1), sku, quantity }),
        permissions: ["stock:reserve"],
        // An agent that asks again for the same order gets the same answer.
        idempotencyKey: ({ input }) => input.order,
        idempotencyScope: "bot",
        annotations: { destructive: false },
        execute: (input) => root.take(`order ${input.order}`, input.sku, input.quantity),
      }),
      discard: action({
        description: "Throws pieces of an article away.",
        inputSchema: z.object({ sku, quantity, why: z.string() }),
        permissions: ["stock:discard"],
        // Somebody is asked first.
        annotations: { destructive: true },
        approvalSummary: ({ input }) => `Throw away ${input.quantity} × ${input.sku}: ${input.why}`,
        execute: (input) => root.take(input.why, input.sku, input.quantity),
      }),
    };
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }

  /** Runs at the root, whose data all conversations share. */
  async free(sku: string): Promise<number> {
    void this
      .sql`CREATE TABLE IF NOT EXISTS taken (sku TEXT NOT NULL, quantity INTEGER NOT NULL, why TEXT NOT NULL)`;
    const [row] = this.sql<{ sum: number }>`
      SELECT coalesce(sum(quantity), 0) AS sum FROM taken WHERE sku = ${sku}`;
    return (STOCK[sku] ?? 0) - (row?.sum ?? 0);
  }

  /** Runs at the root. */
  async take(why: string, sku: string, quantity: number): Promise<{ taken: number; free: number }> {
    const free = await this.free(sku);
    const taken = Math.min(quantity, Math.max(free, 0));
    if (taken > 0) void this.sql`INSERT INTO taken (sku, quantity, why) VALUES (${sku}, ${taken}, ${why})`;
    return { taken, free: free - taken };
  }
}

export default createWorker(WarehouseBot);
