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

/** A bot whose every part can throw. Its own log lines are no JSON. */
export class FailingBot extends Think<Env> {
  #hasThrown = false;

  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getSystemPrompt(): string {
    if (this.getMessengerContext()?.message?.text === "fail in the prompt") {
      throw new TypeError("EXCEPTION-DETAIL of the prompt"); // prompt
    }
    return "You fail.";
  }

  override getTools(): ToolSet {
    return {
      fail: tool({
        description: "Fails",
        inputSchema: z.object({}),
        execute: async (): Promise<string> => {
          await Promise.resolve();
          const secret = this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN;
          throw new Error(`EXCEPTION-DETAIL of the tool, which knows ${secret}`); // tool
        },
      }),
    };
  }

  override getCommands(): ThinkCommands {
    return {
      fail: {
        description: "Fails",
        handler: () => {
          console.log("a line of the bot's own\nand its second line");
          console.error("an error of the bot's own");
          throw new RangeError("EXCEPTION-DETAIL of the command"); // command
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
        conversation: () => {
          if (!this.#hasThrown) {
            this.#hasThrown = true;
            throw new SyntaxError("EXCEPTION-DETAIL of the resolver"); // resolver
          }
          return { target: "subagent", name: "everybody" };
        },
      }),
    });
  }
}

export default createWorker(FailingBot);
