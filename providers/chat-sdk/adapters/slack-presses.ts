import type { Adapter } from "chat";
import { z } from "zod";
import type { PressFacts, StoredPress, Whisper } from "./adapter-profile.ts";
import { postEphemeral } from "./post-ephemeral.ts";

/**
 * Posts a message for one person.
 *
 * Slack shows such a message in a thread only if the thread has messages already. A card that begins a thread may be the
 * only one of it.
 */
export async function whisper(whisper: Whisper, adapter: Adapter): Promise<void> {
  const [platform, channel, threadTs] = whisper.threadId.split(":");
  const beginsThread = threadTs === whisper.press.messageId;
  await postEphemeral(beginsThread ? { ...whisper, threadId: `${platform}:${channel}` } : whisper, adapter);
}

const pressed = z.object({ message: z.object({ thread_ts: z.string().nullish() }) });

/** Finds the place of a card in a private chat. The adapter takes every card for the beginning of a thread. */
export function readPress({ raw, threadId }: StoredPress): PressFacts {
  const [platform, channel] = threadId.split(":");
  const { data } = pressed.safeParse(raw);
  if (channel?.startsWith("D") !== true || data === undefined || data.message.thread_ts) return {};
  return { threadId: `${platform}:${channel}:` };
}
