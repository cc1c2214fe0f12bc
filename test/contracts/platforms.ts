import type { PlatformEmulator } from "./platform-emulator.ts";
import { DiscordEmulator } from "./discord/emulator.ts";
import { GitHubEmulator } from "./github/emulator.ts";
import { GoogleChatEmulator } from "./gchat/emulator.ts";
import { LinearEmulator } from "./linear/emulator.ts";
import { SlackEmulator } from "./slack/emulator.ts";
import { TeamsEmulator } from "./teams/emulator.ts";
import { TelegramEmulator } from "./telegram/emulator.ts";
import { WhatsAppEmulator } from "./whatsapp/emulator.ts";

/** All emulated platforms. */
export const platforms: Readonly<Record<string, () => PlatformEmulator | Promise<PlatformEmulator>>> = {
  Telegram: () => TelegramEmulator.start(),
  Slack: () => new SlackEmulator(),
  WhatsApp: () => new WhatsAppEmulator(),
  Discord: () => new DiscordEmulator(),
  GitHub: () => new GitHubEmulator(),
  "Google Chat": () => new GoogleChatEmulator(),
  Teams: () => new TeamsEmulator(),
  Linear: () => new LinearEmulator(),
};
