import { tool } from "ai";
import type { ToolSet } from "ai";
import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { telemetry } from "switchboard/telemetry";
import { z } from "zod";

/** A bot whose turns a collector of the test sees. */
export class TracedBot extends Think<BotEnvironment> {
  static override telemetry = telemetry();

  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override getTools(): ToolSet {
    return {
      stock: tool({ description: "Counts a product.", inputSchema: z.object({}), execute: () => 7 }),
    };
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(TracedBot);
