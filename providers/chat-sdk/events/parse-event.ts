import type { IncomingEvent } from "../../../src/core/chat/messenger.ts";
import type {
  MessengerAuthor,
  MessengerCapabilities,
  MessengerCommand,
  MessengerEvent,
  MessengerMessage,
  MessengerThread,
} from "../../../src/core/chat/messenger-event.ts";
import { attachmentOf } from "../attachments.ts";
import { type StoredAuthor, type StoredMessage, type StoredQuote, storedEvent } from "./stored-event.ts";

/** Text of a message to the bot whose content the adapter cannot read, such as a shared post. */
const unreadableContent = "[A message of a kind that this bot cannot read]";

type ParsedEvent = Pick<MessengerEvent, "kind" | "author" | "message" | "action" | "reaction" | "detail">;

/** Returns the event of a stored one. Never throws: anything unreadable is `ignored`. */
export function parseEvent(
  incoming: IncomingEvent,
  settings: {
    readonly messengerId: string;
    readonly provider: string;
    readonly capabilities: MessengerCapabilities;
  },
): MessengerEvent {
  const stored = storedEvent.safeParse(incoming.raw);
  return {
    key: incoming.key,
    thread: incoming.thread,
    ...settings,
    raw: stored.success ? stored.data.raw : incoming.raw,
    ...(stored.success
      ? readEvent(stored.data, incoming.thread)
      : { kind: "ignored" as const, detail: "unreadable event" }),
  };
}

function readEvent(stored: ReturnType<typeof storedEvent.parse>, thread: MessengerThread): ParsedEvent {
  switch (stored.type) {
    case "message": {
      const message = readMessage(stored.message, thread);
      const kind = thread.isDirectMessage ? "direct-message" : message.isMention ? "mention" : "message";
      const author = readAuthor(stored.message.author);
      if (message.text !== "" || message.attachments.length > 0) return { kind, author, message };
      if (kind === "message") return { kind: "service", author, detail: "content of an unknown kind" };
      return { kind, author, message: { ...message, text: unreadableContent } };
    }
    case "edited": {
      const { command: _command, ...message } = readMessage(stored.message, thread);
      return { kind: "message-edited", author: readAuthor(stored.message.author), message };
    }
    case "deleted":
      return { kind: "message-deleted", message: deletedMessage(stored.messageId) };
    case "undelivered":
      return { kind: "service", detail: `a message was not delivered: ${stored.goneCode}` };
    case "action":
      return {
        kind: "action",
        author: readAuthor(stored.user),
        action: {
          id: stored.id,
          data: stored.data,
          ...(stored.messageId ? { messageId: stored.messageId } : {}),
          ...(stored.token ? { token: stored.token } : {}),
        },
      };
    case "command": {
      const name = stored.command.replace(/^\//, "").toLowerCase();
      return {
        kind: thread.isDirectMessage ? "direct-message" : "mention",
        author: readAuthor(stored.user),
        message: {
          id: stored.messageId,
          text: `/${name} ${stored.text}`.trim(),
          sentAt: stored.sentAt,
          isMention: !thread.isDirectMessage,
          command: {
            name,
            args: stored.text.trim(),
            ...(thread.isDirectMessage ? {} : { isForThisBot: true }),
          },
          isSlashCommand: true,
          attachments: [],
        },
      };
    }
    case "reaction": {
      const { added, emoji, messageId, user } = stored;
      const names = emoji ? [emoji] : [];
      const change = added ? { added: names, removed: [] } : { added: [], removed: names };
      return { kind: "reaction", author: readAuthor(user), reaction: { messageId, ...change } };
    }
    case "update":
      return {
        kind: "update",
        ...(stored.user && { author: readAuthor(stored.user) }),
        detail: stored.kind,
      };
    default:
      return stored satisfies never;
  }
}

function readMessage(stored: StoredMessage, thread: MessengerThread): MessengerMessage {
  const command = commandIn(stored, thread);
  return {
    id: stored.id,
    text: stored.text,
    sentAt: stored.sentAt,
    ...(typeof stored.editedAt === "number" ? { editedAt: stored.editedAt } : {}),
    isMention: stored.isMention,
    ...(stored.textToBot && { textToBot: stored.textToBot }),
    // Threads of these platforms have the id of their first message.
    ...(thread.topicId?.endsWith(`:${stored.id}`) === true && { beginsThread: true }),
    ...(command ? { command } : {}),
    ...(stored.isSlashCommand && { isSlashCommand: true }),
    ...(stored.replyTo ? { quoted: readQuote(stored.replyTo) } : {}),
    attachments: stored.attachments.map(attachmentOf),
  };
}

/** Finds a command in a typed message. After a mention of the bot it is for this bot alone. */
function commandIn(
  { isMention, isSlashCommand, text, textToBot }: StoredMessage,
  { isDirectMessage }: MessengerThread,
): MessengerCommand | undefined {
  const command = typedCommand(textToBot ?? text);
  if (command === undefined || isDirectMessage) return command;
  return isMention && (textToBot || isSlashCommand) ? { ...command, isForThisBot: true } : command;
}

function typedCommand(text: string): MessengerCommand | undefined {
  const [, name, args] = /^\/([a-z]\w{0,31})(?:\s+([\s\S]*))?$/i.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), args: args?.trim() ?? "" };
}

function readQuote(quote: StoredQuote): NonNullable<MessengerMessage["quoted"]> {
  return {
    id: quote.id,
    text: quote.text,
    author: readAuthor(quote.author),
    isFromBot: quote.author.isMe ?? false,
    attachments: quote.attachments.map(attachmentOf),
  };
}

function readAuthor({ userId, userName, fullName, isBot }: StoredAuthor): MessengerAuthor {
  return {
    userId,
    ...(userName ? { userName } : {}),
    ...(fullName ? { fullName } : {}),
    ...(typeof isBot === "boolean" ? { isBot } : {}),
  };
}

/** Returns a deleted message with its id only: the platform does not tell its text. */
function deletedMessage(id: string): MessengerMessage {
  return { id, text: "", sentAt: 0, isMention: false, attachments: [] };
}
