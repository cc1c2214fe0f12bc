import { tool } from "ai";
import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkActions, ThinkModel, ThinkTools } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { z } from "zod";

/** A bot with nothing of the demo's shop: one tool, and an action that somebody has to agree to. */
export class BookingsBot extends Think<BotEnvironment> {
  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override getTools(): ThinkTools {
    return {
      free_tables: tool({
        description: "Counts the free tables of a day.",
        inputSchema: z.object({ day: z.iso.date() }),
        execute: ({ day }) => ({ day, free: 3 }),
      }),
    };
  }

  override getActions(): ThinkActions {
    return {
      book_table: action({
        description: "Books a table.",
        inputSchema: z.object({ people: z.number().int().max(20) }),
        approval: true,
        execute: ({ people }) => ({ table: 7, people }),
      }),
    };
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(BookingsBot);
