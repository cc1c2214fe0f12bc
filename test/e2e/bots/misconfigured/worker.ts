import { createWorker, modelFromEnv, Think } from "../../../../src/index.ts";
import type { ModelEnvironment } from "../../../../src/index.ts";
import { defineMessengers } from "../../../../src/messengers/index.ts";
import { telegramMessenger } from "../../../../providers/telegram/index.ts";

interface Env extends ModelEnvironment {
  readonly TELEGRAM_BOT_TOKEN: string;
  readonly TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
}

/** A bot with a mistake in it: there is no such mode. */
export class MisconfiguredBot extends Think<Env> {
  override getModel() {
    return modelFromEnv(this.env).model;
  }

  override getMessengers() {
    return defineMessengers({
      telegram: telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        delivery: { mode: "edits" as "edit" },
      }),
    });
  }
}

export default createWorker(MisconfiguredBot);
