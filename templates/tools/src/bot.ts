import { tool } from "ai";
import {
  createWorker,
  modelFromEnv,
  Think,
  type BotEnvironment,
  type ThinkCommands,
  type ThinkTools,
} from "switchboard";
import { defineMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { z } from "zod";

/** A shopping list. Each chat has its own, because each chat is an object with a database of its own. */
export class MyBot extends Think<BotEnvironment> {
  override onStart() {
    this.sql`CREATE TABLE IF NOT EXISTS shopping (item TEXT PRIMARY KEY)`;
  }

  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return "You keep the shopping list of this chat. Use your tools for every change, and answer in one short sentence.";
  }

  override getTools(): ThinkTools {
    return {
      addItem: tool({
        description: "Puts one thing on the shopping list.",
        inputSchema: z.object({ item: z.string().trim().min(1).max(100) }),
        execute: ({ item }) => {
          this.sql`INSERT OR IGNORE INTO shopping (item) VALUES (${item})`;
          return this.items();
        },
      }),
      removeItem: tool({
        description: "Takes one thing off the shopping list.",
        inputSchema: z.object({ item: z.string() }),
        execute: ({ item }) => {
          this.sql`DELETE FROM shopping WHERE item = ${item}`;
          return this.items();
        },
      }),
    };
  }

  override getCommands(): ThinkCommands {
    return {
      list: {
        description: "Show the shopping list",
        handler: () => this.items().join("\n") || "The list is empty.",
      },
    };
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }

  items(): string[] {
    return this.sql<{ item: string }>`SELECT item FROM shopping ORDER BY item`.map(({ item }) => item);
  }
}

export default createWorker(MyBot);
