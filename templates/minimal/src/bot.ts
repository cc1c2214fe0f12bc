import { createWorker, modelFromEnv, Think, type BotEnvironment } from "switchboard";
import { defineMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";

export class MyBot extends Think<BotEnvironment> {
  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return "You are a friendly assistant in a chat. Answer briefly, and say so when you do not know something.";
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(MyBot);
