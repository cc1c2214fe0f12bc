import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkActions, ThinkModel } from "switchboard";
import { mcpServer } from "switchboard/mcp";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { z } from "zod";

interface Env extends BotEnvironment {
  BANK_URL: string;
}

const inputSchema = z.object({ order: z.string() });

/** A bot whose actions pay at a bank of the test, and are tools of other agents. */
export class ToolsBot extends Think<Env> {
  static override mcpServer = mcpServer({ app: "bank" });

  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override getActions(): ThinkActions {
    const pay = async (order: string) => {
      const response = await fetch(`${this.env.BANK_URL}/${order}`, { method: "POST" });
      return response.json();
    };
    return {
      pay: action({ description: "Pays.", inputSchema, execute: ({ order }) => pay(order) }),
      pay_verified: action({
        description: "Pays, and can find out whether it has.",
        inputSchema,
        verify: async ({ input }) => {
          const response = await fetch(`${this.env.BANK_URL}/${input.order}`);
          return response.ok ? { done: true, output: await response.json() } : { done: false };
        },
        execute: ({ order }) => pay(order),
      }),
      pay_approved: action({
        description: "Pays if somebody agrees.",
        inputSchema,
        approval: true,
        approvalSummary: ({ input }) => `Pay order ${input.order}`,
        execute: ({ order }) => pay(order),
      }),
    };
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(ToolsBot);
