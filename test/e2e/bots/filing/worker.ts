import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type { Content, ModelEnvironment, ThinkActions, ThinkCommands, ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";
import { z } from "zod";

interface Env extends ModelEnvironment {
  TELEGRAM_BOT_TOKEN: string;
  TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
  TELEGRAM_BOT_USERNAME?: string;
  TELEGRAM_API_BASE_URL?: string;
}

const MEBIBYTE = 1024 * 1024;

/** A bot that sends files: `/file <bytes>` from a command, and the attachments of an action. */
export class FilingBot extends Think<Env> {
  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getSystemPrompt(): string {
    return "You send files.";
  }

  override getCommands(): ThinkCommands {
    return {
      file: {
        description: "Sends a file of so many bytes",
        handler: ({ args }): Content => ({
          kind: "files",
          files: [{ kind: "document", source: bytes(Number(args)), name: "notes.bin" }],
        }),
      },
    };
  }

  override getActions(): ThinkActions {
    return {
      attach: action({
        description: "Attaches files to the reply",
        inputSchema: z.object({ attachments: z.array(z.looseObject({ type: z.string() })) }),
        execute: ({ attachments }, ctx) => {
          for (const { sizeBytes, ...attachment } of attachments) {
            const source = typeof sizeBytes === "number" ? bytes(sizeBytes) : attachment["source"];
            ctx.attachReply({ ...attachment, source });
          }
          return { attached: attachments.length };
        },
      }),
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
      }),
    });
  }
}

/** Streams bytes in pieces. */
function bytes(sizeBytes: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const length = Math.min(MEBIBYTE, sizeBytes - at);
      if (length > 0) controller.enqueue(new Uint8Array(length).fill(at % 251));
      at += length;
      if (at >= sizeBytes) controller.close();
    },
  });
}

export default createWorker(FilingBot);
