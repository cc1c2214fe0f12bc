import type { MessengerAuthor } from "../../../src/core/chat/messenger-event.ts";
import type { TelegramChat, TelegramUser } from "./message-schema.ts";

/**
 * Returns the author of a message. An anonymous administrator, a channel, and anyone who writes on behalf of a chat has
 * a stand-in user in `from`. Then the chat is the author, and its id the author's id.
 */
export function authorOf(message: {
  readonly from?: TelegramUser | null;
  readonly sender_chat?: TelegramChat | null;
}): MessengerAuthor | undefined {
  if (message.sender_chat) return chatAuthor(message.sender_chat);
  return message.from ? userAuthor(message.from) : undefined;
}

export function userAuthor(user: TelegramUser): MessengerAuthor {
  const fullName = nameOf(user);
  return {
    userId: String(user.id),
    ...(user.username ? { userName: user.username } : {}),
    ...(fullName === "" ? {} : { fullName }),
    isBot: user.is_bot ?? false,
    ...(user.language_code ? { language: user.language_code } : {}),
  };
}

export function chatAuthor(chat: TelegramChat): MessengerAuthor {
  const fullName = chat.title ?? nameOf(chat);
  return {
    userId: String(chat.id),
    ...(chat.username ? { userName: chat.username } : {}),
    ...(fullName === "" ? {} : { fullName }),
    // The id of a private chat is the person's.
    ...(chat.type === "private" ? {} : { isChat: true }),
  };
}

/** Returns first and last name; empty if there is none. */
export function nameOf(named: {
  readonly first_name?: string | null;
  readonly last_name?: string | null;
}): string {
  return [named.first_name, named.last_name]
    .filter((part) => typeof part === "string" && part !== "")
    .join(" ")
    .trim();
}
