import type { Adapter, ChatInstance, Message } from "chat";
import type { Clock } from "../../src/core/deps.ts";
import type { IncomingEvent } from "../../src/core/messenger.ts";
import type { MessengerThread } from "../../src/core/messenger-event.ts";
import { contentKey, interactionKey } from "./event-key.ts";
import { type StoredEvent, storeAuthor, storeMessage, toJson } from "./stored-event.ts";

type Action = Parameters<ChatInstance["processAction"]>[0];
type SlashCommand = Parameters<ChatInstance["processSlashCommand"]>[0];
type Incoming = Promise<IncomingEvent | undefined>;

/** Makes of each event of the SDK one for the inbox; `undefined` for what the bot did itself. */
export interface IncomingEvents {
  ofMessage(threadId: string, message: Message): Incoming;
  ofEdit(threadId: string, message: Message): Incoming;
  ofDeletion(threadId: string, messageId: string, raw: unknown): Incoming;
  ofAction(action: Action): Incoming;
  ofCommand(command: SlashCommand): Incoming;
}

export function createIncomingEvents(adapter: Adapter, userName: string, clock: Clock): IncomingEvents {
  const incoming = (key: string, threadId: string, stored: StoredEvent): IncomingEvent => ({
    key,
    thread: threadOf(adapter, threadId),
    raw: stored,
  });
  const ofEdit = async (threadId: string, message: Message): Incoming => {
    if (message.author.isMe) return undefined;
    const stored = storeMessage(message, isMentioned(message, adapter, userName));
    // Some platforms do not say when a message was edited; its new text tells two edits apart.
    const edition = stored.editedAt ?? (await contentKey(stored.text));
    return incoming(`e:${adapter.channelIdFromThreadId(threadId)}:${message.id}:${edition}`, threadId, {
      type: "edited",
      message: stored,
      raw: toJson(message.raw),
    });
  };
  return {
    ofEdit,
    async ofMessage(threadId, message) {
      if (message.author.isMe) return undefined;
      // Some adapters report an edit as a new message.
      if (message.metadata.edited && message.metadata.editedAt !== undefined) {
        return ofEdit(threadId, message);
      }
      return incoming(`m:${adapter.channelIdFromThreadId(threadId)}:${message.id}`, threadId, {
        type: "message",
        message: storeMessage(message, isMentioned(message, adapter, userName)),
        raw: toJson(message.raw),
      });
    },
    async ofDeletion(threadId, messageId, raw) {
      return incoming(`d:${adapter.channelIdFromThreadId(threadId)}:${messageId}`, threadId, {
        type: "deleted",
        messageId,
        raw: toJson(raw),
      });
    },
    async ofAction({ actionId, value, messageId, threadId, triggerId, user, raw }) {
      const stored = toJson(raw);
      const id = await interactionKey(triggerId, stored);
      return incoming(`a:${threadId}:${id}`, threadId, {
        type: "action",
        id,
        data: value === undefined || value === actionId ? actionId : `${actionId}:${value}`,
        messageId,
        user: storeAuthor(user),
        raw: stored,
      });
    },
    async ofCommand({ channelId, command, text, triggerId, user, raw }) {
      if (user.isMe) return undefined;
      const stored = toJson(raw);
      return incoming(`s:${channelId}:${await interactionKey(triggerId, stored)}`, channelId, {
        type: "command",
        command,
        text,
        messageId: messageIdOf(adapter, raw),
        sentAt: clock.now(),
        user: storeAuthor(user),
        raw: stored,
      });
    },
  };
}

function threadOf(adapter: Adapter, threadId: string): MessengerThread {
  const chatId = adapter.channelIdFromThreadId(threadId);
  return {
    id: threadId,
    chatId,
    ...(threadId === chatId ? {} : { topicId: threadId }),
    isDirectMessage: adapter.isDM?.(threadId) ?? false,
  };
}

/** The SDK looks for the bot's name in messages whose adapter does not say whether it is mentioned; so does this. */
function isMentioned(message: Message, adapter: Adapter, userName: string): boolean {
  if (message.isMention !== undefined) return message.isMention;
  const names = [adapter.userName || userName, adapter.botUserId].filter((name) => Boolean(name));
  return names.some((name) => {
    const escaped = String(name).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return new RegExp(`(?<!\\w)@${escaped}(?![\\w-])|<@!?${escaped}>`, "i").test(message.text);
  });
}

/** A command that was typed as a message has its id; one that was picked from a menu has none. */
function messageIdOf(adapter: Adapter, raw: unknown): string {
  try {
    const message: Partial<Message> | undefined = adapter.parseMessage(raw);
    return typeof message?.id === "string" ? message.id : "";
  } catch {
    // The object of a command that is no message.
    return "";
  }
}
