import type { MessengerEvent } from "../core/messenger-event.ts";
import { sortEvent } from "./sort-event.ts";
import type { SortSettings } from "./sort-event.ts";

/**
 * Whether an answer may follow from an event, or end with it, in whatever state its conversation is. Pure. Service
 * messages, changes of membership, deletions, and messages that nobody addressed to the bot are not answered.
 */
export function mayBeAnswered(event: MessengerEvent, settings: Omit<SortSettings, "isSubscribed">): boolean {
  const asNew = event.kind === "message-edited" ? { ...event, kind: kindWhenNew(event) } : event;
  const sorting = sortEvent(asNew, { ...settings, isSubscribed: true });
  switch (sorting.kind) {
    case "answer":
    case "command":
    case "stop":
      return true;
    case "press":
      return sorting.answer;
    default:
      return isOfAlbum(asNew) || subscribes(asNew, settings);
  }
}

function kindWhenNew({ message, thread }: MessengerEvent): "direct-message" | "mention" | "message" {
  if (thread.isDirectMessage) return "direct-message";
  return message?.isMention === true ? "mention" : "message";
}

/** Only one message of an album has the caption with the mention. */
function isOfAlbum({ kind, message }: MessengerEvent): boolean {
  return kind === "message" && message?.albumId !== undefined;
}

/** A mention subscribes its thread, also where the mention itself is not answered. */
function subscribes(
  { author, kind }: MessengerEvent,
  { respondTo }: Pick<SortSettings, "respondTo">,
): boolean {
  return kind === "mention" && author?.isBot !== true && respondTo.includes("subscribed-thread");
}
