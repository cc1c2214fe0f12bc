import type { IncomingEvent, PlatformContext } from "../../core/chat/messenger.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { withinTime } from "../../core/time/within-time.ts";
import type { NormalizedMessengerDefinition } from "./define-messengers.ts";

/**
 * Reads a stored update as the bot sees it: by the provider, then by the messenger's `toEvent`.
 *
 * @param limitMs longest time that `toEvent` may take: others wait for it
 * @throws {SwitchboardError} `took-too-long`, or anything that `toEvent` throws
 */
export async function readEvent(
  { platform, toEvent }: NormalizedMessengerDefinition,
  incoming: IncomingEvent,
  context: PlatformContext,
  limitMs: number,
): Promise<MessengerEvent> {
  const event = withMessageAuthor(await platform.parse(incoming, context));
  if (toEvent === undefined) return event;
  const input = { event, eventKind: event.kind, thread: event.thread, raw: event.raw };
  return withMessageAuthor(await withinTime(context.deps.clock, limitMs, toEvent(input), "toEvent"));
}

function withMessageAuthor(event: MessengerEvent): MessengerEvent {
  const { author, message } = event;
  if (author === undefined || message === undefined || message.author !== undefined) return event;
  return { ...event, message: { ...message, author } };
}
