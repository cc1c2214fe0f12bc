import type { Adapter } from "chat";
import { ChatSdkCallError } from "../errors/call-error.ts";
import type { Whisper } from "./adapter-profile.ts";

/** Posts a message for one person through the adapter. */
export async function postEphemeral(
  { isMarkdown, press, text, threadId }: Whisper,
  adapter: Adapter,
): Promise<void> {
  if (press.userId === undefined || adapter.postEphemeral === undefined) throw cannotWhisper();
  await adapter.postEphemeral(threadId, press.userId, isMarkdown ? { markdown: text } : { raw: text });
}

/** The person, or the platform's permission to answer, is unknown. */
export function cannotWhisper(): ChatSdkCallError {
  return new ChatSdkCallError("answer", { kind: "rejected", code: "not-supported" });
}
