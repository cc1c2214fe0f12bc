import { createDiscordAdapter } from "@chat-adapter/discord";
import { createGoogleChatAdapter } from "@chat-adapter/gchat";
import { createGitHubAdapter } from "@chat-adapter/github";
import { createLinearAdapter } from "@chat-adapter/linear";
import { createSlackAdapter } from "@chat-adapter/slack";
import { createTeamsAdapter } from "@chat-adapter/teams";
import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import { createWorker, modelFromEnv, Think, type BotEnvironment } from "switchboard";
import { chatSdkMessenger, defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";

type Env = BotEnvironment & Readonly<Record<string, string | undefined>>;

/** The adapters read their own variables. The one in front says that the platform is wanted. */
const ADAPTERS = {
  slack: ["SLACK_SIGNING_SECRET", () => createSlackAdapter()],
  discord: ["DISCORD_BOT_TOKEN", () => createDiscordAdapter()],
  teams: ["TEAMS_APP_ID", () => createTeamsAdapter()],
  whatsapp: ["WHATSAPP_ACCESS_TOKEN", () => createWhatsAppAdapter()],
  gchat: ["GOOGLE_CHAT_CREDENTIALS", () => createGoogleChatAdapter()],
  github: ["GITHUB_WEBHOOK_SECRET", () => createGitHubAdapter()],
  linear: ["LINEAR_WEBHOOK_SECRET", () => createLinearAdapter()],
} as const;

/** One bot on every platform whose variables are set. */
export class EverywhereBot extends Think<Env> {
  override getModel() {
    return modelFromEnv(this.env);
  }

  override getMessengers(): ThinkMessengers {
    const wanted = Object.entries(ADAPTERS).filter(([, [variable]]) => this.env[variable]);
    const others = wanted.map(([name, [, create]]) => [
      name,
      chatSdkMessenger({ adapter: create(), verifyWebhook: false }),
    ]);
    // Without any other platform, the simulator plays Telegram.
    const isOnTelegram = this.env.TELEGRAM_BOT_TOKEN || others.length === 0;
    return defineMessengers({
      ...(isOnTelegram && { telegram: telegramFromEnv(this.env) }),
      ...Object.fromEntries(others),
    });
  }
}

export default createWorker(EverywhereBot);
