import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkModel } from "switchboard";
import { mcpClient } from "switchboard/mcp-client";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";

interface Env extends BotEnvironment {
  EVERYTHING_URL: string;
  FILES_URL: string;
  MEMORY_URL: string;
}

/** A bot that uses servers of the test. Nobody is asked before a call. */
export class ConnectedBot extends Think<Env> {
  static override mcpClient = mcpClient<Env>({
    servers: (env) => ({
      everything: { url: env.EVERYTHING_URL, approval: false },
      files: { url: env.FILES_URL, approval: false },
      memory: { url: env.MEMORY_URL, approval: false },
    }),
  });

  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(ConnectedBot);
