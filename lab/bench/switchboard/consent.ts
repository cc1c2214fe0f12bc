/** A bot with actions whose effect is a request to the benchmark: `pay` needs consent, `note` does not. */
import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ConfiguredModel, ThinkActions } from "switchboard";
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

  override getActions(): ThinkActions {
    const common = {
      inputSchema,
      idempotencyKey: ({ input }: { readonly input: z.infer<typeof inputSchema> }) => input.id,
      execute: ({ url }: z.infer<typeof inputSchema>) => effect(url),
    };
    return {
      pay: action({ ...common, description: "Pays, with consent.", approval: true }),
      note: action({ ...common, description: "Writes a note." }),
    };
  }
}

export default createWorker(ConsentBot);
