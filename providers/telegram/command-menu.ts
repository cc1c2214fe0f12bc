import type { CommandEntry } from "../../src/core/messenger.ts";
import type { TelegramClient } from "./client.ts";

const maxCommands = 100;
const maxDescriptionLength = 256;

const scopes = [{ type: "all_private_chats" }, { type: "all_group_chats" }] as const;

/**
 * Makes Telegram offer the commands in private chats and groups. Leaves out commands that Telegram would refuse; they
 * still work when they are typed.
 */
export async function setCommandMenu(
  commands: readonly CommandEntry[],
  client: TelegramClient,
  signal: AbortSignal,
): Promise<void> {
  const offered = commands
    .filter(({ name, description }) => /^[a-z0-9_]{1,32}$/.test(name) && description.trim() !== "")
    .slice(0, maxCommands)
    .map(({ name, description }) => ({ command: name, description: clip(description.trim()) }));
  for (const scope of scopes) {
    await client.call("setMyCommands", signal, (api, signal) =>
      api.setMyCommands(offered, { scope }, signal),
    );
  }
}

function clip(description: string): string {
  if (description.length <= maxDescriptionLength) return description;
  return `${description.slice(0, maxDescriptionLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
