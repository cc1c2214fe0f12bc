import type { Adapter } from "chat";
import type { IncomingEvent, PlatformContext, ReceiveContext } from "../../../src/core/chat/messenger.ts";
import { profileOf } from "../adapters/known-adapters.ts";
import { threadOf } from "../events/incoming-events.ts";
import type { StoredEvent } from "../events/stored-event.ts";

/** The person may have written again since an older report. */
const FRESH_MS = 10 * 60_000;

/**
 * Reads the messages that a webhook reports as not delivered, for an adapter that does not report them.
 *
 * Each is logged. If the platform delivers nothing to the chat any more, an event says so.
 *
 * @param body returns the JSON of a webhook that the adapter has verified
 */
export async function reportUndelivered(
  adapter: Adapter,
  body: () => unknown,
  { deps, log, messengerId }: PlatformContext,
  receive: Pick<ReceiveContext, "accept">,
): Promise<void> {
  const { readUndelivered } = profileOf(adapter.name);
  if (readUndelivered === undefined) return;
  const events: IncomingEvent[] = [];
  for (const { at, code, goneCode, messageId, threadId } of readUndelivered(body())) {
    const thread = threadOf(adapter, threadId);
    log.warn("chat-sdk.not-delivered", {
      messenger: messengerId,
      chat: thread.chatId,
      message: messageId,
      code,
    });
    if (goneCode === undefined || deps.clock.now() - at > FRESH_MS) continue;
    const stored: StoredEvent = { type: "undelivered", goneCode, raw: null };
    events.push({ key: `u:${threadId}:${messageId}`, thread, raw: stored });
  }
  if (events.length > 0) await receive.accept(events);
}
