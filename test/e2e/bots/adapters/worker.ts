import { createDiscordAdapter } from "@chat-adapter/discord";
import { createGoogleChatAdapter } from "@chat-adapter/gchat";
import { createGitHubAdapter } from "@chat-adapter/github";
import { createLinearAdapter } from "@chat-adapter/linear";
import { createSlackAdapter } from "@chat-adapter/slack";
import { createTeamsAdapter } from "@chat-adapter/teams";
import { createTelegramAdapter } from "@chat-adapter/telegram";
import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import { createWorker, modelFromEnv, Think, type ModelEnvironment, type ThinkModel } from "switchboard";
import { chatSdkMessenger, defineMessengers, type ThinkMessengers } from "switchboard/messengers";

interface Env extends ModelEnvironment {
  /** Stands for all platforms. */
  readonly PLATFORM_URL: string;
}

const secret = "s3cret";
const verifyWebhook = false;

/** A bot with every adapter that Switchboard knows by name. */
export class AdaptersBot extends Think<Env> {
  override getModel(): ThinkModel {
    return modelFromEnv(this.env).model;
  }

  override getMessengers(): ThinkMessengers {
    const apiUrl = this.env.PLATFORM_URL;
    const adapters = {
      slack: createSlackAdapter({ apiUrl: `${apiUrl}/`, botToken: "xoxb-1", signingSecret: secret }),
      discord: createDiscordAdapter({
        apiUrl,
        applicationId: "1",
        botToken: "token",
        publicKey: "ab".repeat(32),
      }),
      teams: createTeamsAdapter({ apiUrl, appId: "app", appPassword: secret, appTenantId: "tenant" }),
      whatsapp: createWhatsAppAdapter({
        apiUrl,
        accessToken: "EAAG",
        appSecret: secret,
        phoneNumberId: "1",
        verifyToken: secret,
        userName: "shop",
      }),
      gchat: createGoogleChatAdapter({
        apiUrl,
        credentials: { client_email: "bot@example.org", private_key: "key" },
        googleChatProjectNumber: "1",
      }),
      github: createGitHubAdapter({ apiUrl, token: "ghp", webhookSecret: secret, userName: "shop-bot" }),
      linear: createLinearAdapter({ apiUrl, apiKey: "lin", webhookSecret: secret }),
      telegram: createTelegramAdapter({
        apiUrl,
        botToken: "1:token",
        secretToken: secret,
        mode: "webhook",
        userName: "shop_bot",
      }),
    };
    return defineMessengers(
      Object.fromEntries(
        Object.entries(adapters).map(([name, adapter]) => [
          name,
          chatSdkMessenger({ adapter, verifyWebhook }),
        ]),
      ),
    );
  }
}

export default createWorker(AdaptersBot);
