import type { BotCommand, LanguageCode } from "grammy/types";
import { inLanguage, languagesOf } from "../../src/core/text/local-text.ts";
import type { CommandEntry } from "../../src/core/chat/messenger.ts";
import type { TelegramClient } from "./client.ts";
import { clipped } from "./updates/message-fields.ts";

const maxCommands = 100;
const maxDescriptionLength = 256;

const scopes = [{ type: "all_private_chats" }, { type: "all_group_chats" }] as const;

/**
 * Makes Telegram offer the commands in private chats and groups, in each language of their descriptions, and removes the
 * menus of former languages. Leaves out commands that Telegram would refuse; they still work when they are typed.
 */
export async function setCommandMenu(
  commands: readonly CommandEntry[],
  client: TelegramClient,
  signal: AbortSignal,
  formerLanguages: readonly string[] = [],
): Promise<void> {
  const languages = new Set(commands.flatMap(({ description }) => languagesOf(description)));
  for (const language of [undefined, ...languages]) {
    const offered = menuIn(language, commands);
    const only = language === undefined ? {} : { language_code: language as LanguageCode };
    for (const scope of scopes) {
      await client.call("setMyCommands", { commands: offered, scope, ...only }, signal);
    }
  }
  for (const language of formerLanguages) {
    for (const scope of scopes) {
      await client.call("deleteMyCommands", { scope, language_code: language as LanguageCode }, signal);
    }
  }
}

function menuIn(language: string | undefined, commands: readonly CommandEntry[]): BotCommand[] {
  return commands
    .map(({ name, description }) => ({
      command: name,
      description: inLanguage(description, language).trim(),
    }))
    .filter(({ command, description }) => /^[a-z0-9_]{1,32}$/.test(command) && description !== "")
    .slice(0, maxCommands)
    .map(({ command, description }) => ({
      command,
      description: clipped(description, maxDescriptionLength),
    }));
}
