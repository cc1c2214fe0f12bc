import { tool, type ToolSet } from "ai";
import { createWorker, modelFromEnv, Think } from "switchboard";
import type { ModelEnvironment, ThinkCommands, ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";
import { z } from "zod";

interface Env extends ModelEnvironment {
  TELEGRAM_BOT_TOKEN: string;
  TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  TELEGRAM_BOT_USERNAME?: string;
  TELEGRAM_API_BASE_URL?: string;
}

/** A bot that waits for nobody: what takes a minute elsewhere takes seconds here. */
export class ImpatientBot extends Think<Env> {
  override chatStreamStallTimeoutMs = 2500;
  override chatStreamFirstChunkTimeoutMs = 2500;
  override modelPatienceMs = 6000;
  /** A model that calls tools without end says the same each time: a chat takes one message a second. */
  override maxSteps = 3;
  #rings = 0;

  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getTools(): ToolSet {
    return {
      ring_bell: tool({
        description: "Rings the bell and says how often it was rung.",
        inputSchema: z.object({}),
        execute: () => {
          this.#rings += 1;
          return { rungInAll: this.#rings };
        },
      }),
    };
  }

  override getCommands(): ThinkCommands {
    return {
      explode: {
        description: "Fails",
        handler: () => {
          throw new Error("EXCEPTION-DETAIL: the handler broke");
        },
      },
    };
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({
      telegram: telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        userName: this.env.TELEGRAM_BOT_USERNAME,
        apiBaseUrl: this.env.TELEGRAM_API_BASE_URL,
        burstMs: 0,
        delivery: {
          callTimeoutMs: 2500,
          errorResponseText: "Something is broken here.",
          overloadedResponseText: "The assistant is busy.",
        },
      }),
    });
  }
}

export default createWorker(ImpatientBot);
