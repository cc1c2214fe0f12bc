import { createWorker, modelFromEnv, Think, type ModelEnvironment, type ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";

interface Env extends ModelEnvironment {
  readonly TELEGRAM_BOT_TOKEN: string;
  readonly TELEGRAM_WEBHOOK_SECRET_TOKEN: string;
}

/** A bot with a mistake in it: there is no such mode. */
export class MisconfiguredBot extends Think<Env> {
  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getMessengers(): ThinkMessengers {
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
