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

type Adapter = Parameters<typeof chatSdkMessenger>[0]["adapter"];

/** The adapters read their own variables. A platform is wanted if one of those here is set, and then needs all of them. */
const ADAPTERS: Readonly<Record<string, readonly [variables: string, create: () => Adapter]>> = {
  slack: ["SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET", createSlackAdapter],
  discord: ["DISCORD_APPLICATION_ID, DISCORD_BOT_TOKEN, DISCORD_PUBLIC_KEY", createDiscordAdapter],
  teams: ["TEAMS_APP_ID, TEAMS_APP_PASSWORD, TEAMS_APP_TENANT_ID", createTeamsAdapter],
  whatsapp: [
    "WHATSAPP_ACCESS_TOKEN, WHATSAPP_APP_SECRET, WHATSAPP_PHONE_NUMBER_ID, WHATSAPP_VERIFY_TOKEN",
    createWhatsAppAdapter,
  ],
  gchat: [
    "GOOGLE_CHAT_CREDENTIALS, GOOGLE_CHAT_PROJECT_NUMBER or GOOGLE_CHAT_WORKSPACE_ADDON_SERVICE_ACCOUNT_EMAIL, GOOGLE_CHAT_PROJECT_NUMBER or PUBLIC_URL",
    // Only an add-on needs its own address.
    () => createGoogleChatAdapter(process.env.PUBLIC_URL ? { endpointUrl: webhookOf("gchat") } : {}),
  ],
  github: [
    "GITHUB_TOKEN or GITHUB_APP_ID, GITHUB_TOKEN or GITHUB_PRIVATE_KEY, GITHUB_WEBHOOK_SECRET",
    createGitHubAdapter,
  ],
  linear: ["LINEAR_API_KEY, LINEAR_WEBHOOK_SECRET", createLinearAdapter],
};

/** Variables that may be for other things. They do not make a platform wanted. */
const SHARED = new Set(["GITHUB_TOKEN", "PUBLIC_URL"]);

const webhookOf = (messenger: string): string =>
  `${process.env.PUBLIC_URL?.replace(/\/+$/, "")}/messengers/${messenger}/webhook`;

/** One bot on every platform whose variables are set. `/health` names those that lack some. */
export class EverywhereBot extends Think<Env> {
  override getModel() {
    return modelFromEnv(this.env);
  }

  override getMessengers(): ThinkMessengers {
    const messengers: Record<string, ThinkMessengers[string]> = {};
    for (const [name, [variables, create]] of Object.entries(ADAPTERS)) {
      const needed = variables.split(", ");
      const missing = needed.filter((either) => !either.split(" or ").some((variable) => this.env[variable]));
      const own = needed.flatMap((either) => either.split(" or ")).filter((one) => !SHARED.has(one));
      if (!own.some((variable) => this.env[variable])) continue;
      messengers[name] =
        missing.length > 0 ? { missing } : chatSdkMessenger({ adapter: create(), verifyWebhook: false });
    }
    // Without any other platform, the simulator plays Telegram.
    const isOnTelegram = this.env.TELEGRAM_BOT_TOKEN || Object.keys(messengers).length === 0;
    return defineMessengers({ ...(isOnTelegram && { telegram: telegramFromEnv(this.env) }), ...messengers });
  }
}

export default createWorker(EverywhereBot);
