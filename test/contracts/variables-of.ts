import type { PlatformEmulator } from "./platform-emulator.ts";

/** Variables that are not named after the option of the adapter. */
const PREFIXES: Readonly<Record<string, string>> = { gchat: "GOOGLE_CHAT" };
const NAMES: Readonly<Record<string, string>> = {
  "github.userName": "GITHUB_BOT_USERNAME",
  "linear.userName": "LINEAR_BOT_USERNAME",
  "whatsapp.userName": "WHATSAPP_BOT_USERNAME",
  "gchat.endpointUrl": "PUBLIC_URL",
  "gchat.googleChatProjectNumber": "GOOGLE_CHAT_PROJECT_NUMBER",
  "gchat.workspaceAddOnServiceAccountEmail": "GOOGLE_CHAT_WORKSPACE_ADDON_SERVICE_ACCOUNT_EMAIL",
  "telegram.token": "TELEGRAM_BOT_TOKEN",
  "telegram.secretToken": "TELEGRAM_WEBHOOK_SECRET_TOKEN",
};

/** Returns what an owner sets to have the bot on an emulated platform. */
export function variablesOf(emulator: PlatformEmulator, url: string): Record<string, string> {
  const { PLATFORM_OPTIONS = "{}" } = emulator.env(url);
  const prefix = PREFIXES[emulator.name] ?? emulator.name.toUpperCase();
  return Object.fromEntries(
    Object.entries(JSON.parse(PLATFORM_OPTIONS) as object).map(([option, value]: [string, unknown]) => [
      NAMES[`${emulator.name}.${option}`] ?? `${prefix}_${option.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`,
      typeof value === "string" ? value.replace("/messengers/gchat/webhook", "") : JSON.stringify(value),
    ]),
  );
}
