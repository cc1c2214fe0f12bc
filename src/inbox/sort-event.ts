import type { MessengerRespondTo } from "../core/chat/messenger.ts";
import type { MessengerCommand, MessengerEvent } from "../core/chat/messenger-event.ts";

/** Code of the bot for events that start no turn. */
export type EventHook = "onChatMember" | "onReaction" | "onUpdate";

/** The inbox's decision about an event. Each one leaves a line in the log with its reason. */
export type Sorting =
  /** A message for the model. */
  | { readonly kind: "answer" }
  /** Handled at once, before the model and beside a running turn. */
  | { readonly kind: "command"; readonly command: MessengerCommand }
  /** A button was pressed: always acknowledged; `answer` when it also starts a turn. */
  | { readonly kind: "press"; readonly answer: boolean }
  /** The platform's stop button: ends the running answer, as `/stop` does. */
  | { readonly kind: "stop" }
  /** An edit of an earlier message: corrects it while it is queued, never starts or runs anything. */
  | { readonly kind: "correct" }
  | { readonly kind: "withdraw" }
  /** For bot code outside of turns. Runs at once, beside everything else. */
  | { readonly kind: "hand-over"; readonly to: EventHook }
  /** The person came back to the bot, or left it. */
  | { readonly kind: "membership" }
  | { readonly kind: "ignore"; readonly reason: string };

export interface SortSettings {
  readonly respondTo: readonly MessengerRespondTo[];
  readonly isSubscribed: boolean;
  readonly hasCommand: (name: string) => boolean;
  /** Whether the bot has code for such events. @default false */
  readonly hears?: (hook: EventHook) => boolean;
}

/**
 * Decides what to do with an event. Pure. Whether the person may use the bot is checked afterwards, and only for events
 * that would be answered.
 */
export function sortEvent(event: MessengerEvent, settings: SortSettings): Sorting {
  switch (event.kind) {
    case "message-edited":
      return { kind: "correct" };
    case "message-deleted":
      return { kind: "withdraw" };
    case "membership":
      return isHeardChange(event, settings)
        ? { kind: "hand-over", to: "onChatMember" }
        : { kind: "membership" };
    case "service":
      if (isHeardChange(event, settings)) return { kind: "hand-over", to: "onChatMember" };
      return ignore(`service message: ${event.detail ?? "unknown"}`);
    case "ignored":
      return ignore(event.detail ?? "kind not handled");
    case "action":
      return { kind: "press", answer: settings.respondTo.includes("action") };
    case "stop":
      return { kind: "stop" };
    case "reaction":
      if (event.author?.isBot === true) return ignore("reaction of a bot");
      return handOver("onReaction", settings, "reaction");
    case "update":
      return handOver("onUpdate", settings, event.detail ?? "update");
    case "direct-message":
    case "mention":
    case "message":
      return sortMessage(event, settings);
    default:
      return unreachable(event.kind);
  }
}

function sortMessage(event: MessengerEvent, settings: SortSettings): Sorting {
  const { message } = event;
  if (message === undefined) return ignore("no message in the event");
  if (event.author?.isBot === true) return ignore("written by a bot");
  const isDirect = event.thread.isDirectMessage;
  const { command } = message;
  if (command !== undefined) {
    if (!isForBot(event, settings)) return ignore("command without a mention, thread not subscribed");
    if (settings.hasCommand(command.name)) return { kind: "command", command };
    // Another bot of the group may know the command.
    if (!isDirect && command.isForThisBot !== true) return ignore("unknown command in a group");
  }
  if (message.text.trim() === "" && message.attachments.length === 0) return ignore("empty message");
  if (event.kind === "direct-message") {
    return settings.respondTo.includes("direct-message")
      ? { kind: "answer" }
      : ignore("direct messages are not answered");
  }
  if (event.kind === "mention") {
    return settings.respondTo.includes("mention") ? { kind: "answer" } : ignore("mentions are not answered");
  }
  if (!settings.respondTo.includes("subscribed-thread")) return ignore("no mention");
  return settings.isSubscribed ? { kind: "answer" } : ignore("no mention, thread not subscribed");
}

/** Tells whether a message is in a place where the bot is spoken to, or addresses the bot. */
function isForBot({ kind }: MessengerEvent, { isSubscribed }: SortSettings): boolean {
  return kind !== "message" || isSubscribed;
}

function isHeardChange({ member }: MessengerEvent, { hears }: SortSettings): boolean {
  return member !== undefined && hears?.("onChatMember") === true;
}

function handOver(to: EventHook, { hears }: SortSettings, reason: string): Sorting {
  return hears?.(to) === true ? { kind: "hand-over", to } : ignore(reason);
}

function ignore(reason: string): Sorting {
  return { kind: "ignore", reason };
}

function unreachable(kind: never): Sorting {
  return ignore(`unknown kind ${String(kind)}`);
}
