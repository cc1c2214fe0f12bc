import { createWorker, modelFromEnv, Think, type BotEnvironment } from "switchboard";
import { defineMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";

export class MyBot extends Think<BotEnvironment> {
  override getModel() {
    return modelFromEnv(this.env);
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(MyBot);
