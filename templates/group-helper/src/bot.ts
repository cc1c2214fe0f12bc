import { createWorker, modelFromEnv, Think, type BotEnvironment, type ThinkCommands } from "switchboard";
import { defineMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";

const RULES = "Be kind. Stay on topic. No advertisements.";

/**
 * Helps a group. After somebody has mentioned it, it reads along and speaks when it can help. To read along, switch
 * privacy mode off: /setprivacy at @BotFather.
 */
export class MyBot extends Think<BotEnvironment> {
  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSystemPrompt() {
    return `You help the members of a group. Speak only if a question is open and you know the answer. The rules of the group: ${RULES}`;
  }

  override getCommands(): ThinkCommands {
    return { rules: { description: "The rules of this group", handler: () => RULES } };
  }

  override getMessengers() {
    return defineMessengers({
      telegram: telegramFromEnv(this.env, {
        respondTo: ["direct-message", "mention", "subscribed-thread"],
        limits: { turnsPerPersonPerDay: 100 },
      }),
    });
  }
}

export default createWorker(MyBot);
