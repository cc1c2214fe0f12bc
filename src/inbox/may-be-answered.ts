import type { MessengerEvent } from "../core/chat/messenger-event.ts";
import { sortEvent } from "./sort-event.ts";
import type { SortSettings } from "./sort-event.ts";

/**
 * Tells whether an event may start or end an answer, whatever the state of its conversation. Pure. Service messages,
 * changes of membership, deletions, and messages that do not address the bot are not answered.
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

/** Tells whether a message belongs to an album. Only one message of an album has the caption with the mention. */
function isOfAlbum({ kind, message }: MessengerEvent): boolean {
  return kind === "message" && message?.albumId !== undefined;
}

/** Tells whether an event subscribes its thread. A mention does, even if the mention itself is not answered. */
function subscribes(event: MessengerEvent, { respondTo }: Pick<SortSettings, "respondTo">): boolean {
  return isInvitation(event) && respondTo.includes("subscribed-thread");
}

/**
 * Tells whether a person addresses the bot in front of the others of a thread. A slash command of the platform is a
 * question of one person, often in a whole channel, and asks the bot to follow nothing.
 */
export function isInvitation({ author, kind, message }: MessengerEvent): boolean {
  return kind === "mention" && author?.isBot !== true && message?.isSlashCommand !== true;
}
