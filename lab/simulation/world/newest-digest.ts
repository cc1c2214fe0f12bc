import type { QuotedMessage } from "../../../src/core/chat/messenger-event.ts";
import { questionWordsOf } from "../oracle/visible-text.ts";
import type { Place } from "../plan/plan.ts";
import type { World } from "./world.ts";

/** Returns the newest digest in a chat, in the form that a reply quotes. Undefined if the chat shows none. */
export function newestDigest(
  { platform, scheduleWatch }: World,
  { threadId }: Place,
): { readonly digest: string; readonly quoted: QuotedMessage } | undefined {
  const asked = scheduleWatch.asked.filter((one) => one.threadId === threadId);
  const digests = new Set(asked.map(({ token }) => token));
  for (const { id, text } of platform.visible(threadId).toReversed()) {
    const digest = questionWordsOf(text).find((word) => digests.has(word));
    if (digest === undefined) continue;
    return { digest, quoted: { id: String(id), text, isFromBot: true, attachments: [] } };
  }
  return undefined;
}
