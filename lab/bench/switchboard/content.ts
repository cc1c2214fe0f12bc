/** A bot whose commands send a card with a button and a large document. Its model is never called. */
import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ConfiguredModel, PressAnswer, ThinkCommands } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";

const DOCUMENT_BYTES = 20 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

export class ContentBot extends Think<BotEnvironment> {
  override getModel(): ConfiguredModel {
    return modelFromEnv(this.env);
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }

  override getCommands(): ThinkCommands {
    return {
      card: {
        description: "A card with a button",
        handler: () => ({
          kind: "card",
          text: "A card",
          buttons: [[{ kind: "callback", label: "Press", payload: {} }]],
        }),
      },
      document: {
        description: "A document of 20 MiB",
        handler: () => ({
          kind: "files",
          files: [{ kind: "document", name: "large.bin", source: differentBytes() }],
        }),
      },
    };
  }

  override onAction(): PressAnswer {
    return "Pressed.";
  }
}

/** Streams bytes that differ each time, so that no file id of an earlier document is used. */
function differentBytes(): ReadableStream<Uint8Array> {
  let left = DOCUMENT_BYTES;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left === 0) controller.close();
      else controller.enqueue(crypto.getRandomValues(new Uint8Array(PIECE_BYTES)));
      left -= left === 0 ? 0 : PIECE_BYTES;
    },
  });
}

export default createWorker(ContentBot);
