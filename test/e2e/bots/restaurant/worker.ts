import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkActions, ThinkCommands, ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { z } from "zod";

interface Env extends BotEnvironment {
  MANAGER_ID?: string;
}

/** Sends its menu as a file, asks the manager about large parties, and tells all subscribers the news. */
export class RestaurantBot extends Think<Env> {
  override subscribeCommands = true;

  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }

  override getActions(): ThinkActions {
    return {
      send_menu: action({
        description: "Sends the menu as PDF.",
        inputSchema: z.object({}),
        execute: (_input, context) => {
          const source = new TextEncoder().encode("%PDF-1.4\nSoup\n%%EOF");
          context.attachReply({ type: "document", source, name: "menu.pdf", mediaType: "application/pdf" });
          return { sent: true };
        },
      }),
      book_table: action({
        description: "Books a table.",
        inputSchema: z.object({ people: z.number() }),
        approval: true,
        approvers: [this.env.MANAGER_ID ?? "nobody"],
        askIn: "approver-dm",
        execute: ({ people }) => ({ booked: people }),
      }),
    };
  }

  override getCommands(): ThinkCommands {
    return {
      announce: {
        description: "Tell all subscribers",
        handler: async ({ args, event }) => {
          await this.broadcasts.send(args, "subscribers", { idempotencyKey: event.key });
          return "It is on its way.";
        },
      },
    };
  }
}

export default createWorker(RestaurantBot);
