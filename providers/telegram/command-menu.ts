import type { CommandEntry } from "../../src/core/messenger.ts";
import type { TelegramClient } from "./client.ts";

const maxCommands = 100;
const maxDescriptionLength = 256;

/** Has Telegram offer the commands in private chats. Those that it would refuse are left out, and work when typed. */
export async function setCommandMenu(
  commands: readonly CommandEntry[],
  client: TelegramClient,
  signal: AbortSignal,
): Promise<void> {
  const offered = commands
    .filter(({ name, description }) => /^[a-z0-9_]{1,32}$/.test(name) && description.trim() !== "")
    .slice(0, maxCommands)
    .map(({ name, description }) => ({ command: name, description: clip(description.trim()) }));
  await client.call("setMyCommands", signal, (api, signal) =>
    api.setMyCommands(offered, { scope: { type: "all_private_chats" } }, signal),
  );
}

function clip(description: string): string {
  if (description.length <= maxDescriptionLength) return description;
  return `${description.slice(0, maxDescriptionLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
