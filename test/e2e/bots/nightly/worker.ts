import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkModel, ThinkScheduledTasks } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";

/** A bot that writes to every chat at a time that the clocks skip or show twice, and lets people make reminders. */
export class NightlyBot extends Think<BotEnvironment> {
  override chatSchedules = true;

  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override getScheduledTasks(): ThinkScheduledTasks {
    return {
      nightWatch: {
        schedule: "every day at 02:30 in Europe/Berlin",
        prompt: "Say that all is well.",
        ifLate: { runWithinMs: 43_200_000, otherwise: "skip" },
        deliverTo: (chats) => chats.map(({ chatId, messengerId }) => ({ messenger: messengerId, chatId })),
      },
    };
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(NightlyBot);
