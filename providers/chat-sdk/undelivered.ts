import type { Adapter } from "chat";
import type { IncomingEvent, PlatformContext, ReceiveContext } from "../../src/core/messenger.ts";
import { parseJson } from "../../src/core/parse-json.ts";
import { profileOf } from "./adapters/known-adapters.ts";
import { threadOf } from "./incoming-events.ts";
import type { StoredEvent } from "./stored-event.ts";

/** The person may have written again since an older report. */
const FRESH_MS = 10 * 60_000;

/**
 * Prepares to read the messages that a webhook reports as not delivered, for an adapter that does not report them.
 * Undefined if there is nothing to read. Call the result when the adapter has verified the request.
 *
 * Each is logged. If the platform delivers nothing to the chat any more, an event says so.
 */
export function undeliveredIn(
  request: Request,
  adapter: Adapter,
): ((context: PlatformContext, receive: Pick<ReceiveContext, "accept">) => Promise<void>) | undefined {
  const { readUndelivered } = profileOf(adapter.name);
  if (readUndelivered === undefined || request.method !== "POST") return undefined;
  const copy = request.clone();
  return async ({ deps, log, messengerId }, receive) => {
    const events: IncomingEvent[] = [];
    for (const { at, code, goneCode, messageId, threadId } of readUndelivered(parseJson(await copy.text()))) {
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
  };
}
