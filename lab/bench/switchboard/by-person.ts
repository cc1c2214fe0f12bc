/** The shipped bot with one conversation for each person, so that the gate of a chat is always another object. */
import { createWorker } from "switchboard";
import { defineMessengers } from "switchboard/messengers";
import telegramMessenger from "switchboard/messengers/telegram";
import { SupportAgent as ShippedAgent } from "../../../examples/support-bot/agent.ts";

export class SupportAgent extends ShippedAgent {
  override getMessengers(): ReturnType<ShippedAgent["getMessengers"]> {
    return defineMessengers({
      telegram: telegramMessenger({
        token: this.env.TELEGRAM_BOT_TOKEN,
        secretToken: this.env.TELEGRAM_WEBHOOK_SECRET_TOKEN,
        userName: this.env.TELEGRAM_BOT_USERNAME,
        apiBaseUrl: this.env.TELEGRAM_API_BASE_URL,
        conversation: ({ author, thread }) => ({
          target: "subagent",
          name: author === undefined ? thread.id : `person/${author.userId}`,
        }),
      }),
    });
  }
}

export default createWorker(SupportAgent);
