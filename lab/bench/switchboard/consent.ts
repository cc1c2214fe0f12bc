/**
 * A bot with actions whose effect is a request to the benchmark: `pay` needs consent, `note` does not, and `sure` asks
 * first. `/card` shows a card of the bot's own.
 */
import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ConfiguredModel, ThinkActions, ThinkCommands } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { z } from "zod";

const inputSchema = z.object({ id: z.string(), url: z.string() });

async function effect(url: string): Promise<string> {
  const response = await fetch(url, { method: "POST" });
  return response.text();
}

export class ConsentBot extends Think<BotEnvironment> {
  override getModel(): ConfiguredModel {
    return modelFromEnv(this.env);
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }

  override getCommands(): ThinkCommands {
    return {
      card: {
        description: "Show a card",
        handler: () => ({
          kind: "card",
          text: "A card",
          buttons: [[{ kind: "callback", label: "Press", payload: {} }]],
        }),
      },
    };
  }

  override onAction(): string {
    return "Pressed.";
  }

  override getActions(): ThinkActions {
    const common = {
      inputSchema,
      idempotencyKey: ({ input }: { readonly input: z.infer<typeof inputSchema> }) => input.id,
      execute: ({ url }: z.infer<typeof inputSchema>) => effect(url),
    };
    return {
      pay: action({ ...common, description: "Pays, with consent.", approval: true }),
      note: action({ ...common, description: "Writes a note." }),
      sure: action({
        ...common,
        description: "Writes a note that somebody wants.",
        execute: async ({ url }, ctx) => ((await ctx.confirm({ message: "Sure?" })) ? effect(url) : "kept"),
      }),
    };
  }
}

export default createWorker(ConsentBot);
