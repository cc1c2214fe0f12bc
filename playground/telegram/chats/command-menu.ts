import type { User } from "grammy/types";
import type { ChatState } from "./world.ts";

type Chat = Pick<ChatState, "id" | "type" | "botStatus">;

/**
 * Returns the commands that a person's client offers in a chat. The narrowest scope with commands wins, and in it the
 * list for the person's language (BotCommandScope, "Determining list of commands").
 *
 * People are never administrators here, so the scopes for administrators have no effect. A bot that is not in the chat
 * offers nothing.
 */
export function commandsIn(
  chat: Chat,
  user: Pick<User, "id" | "language_code">,
  commands: ReadonlyMap<string, readonly object[]>,
): readonly object[] {
  if (chat.botStatus === "kicked" || chat.botStatus === "left") return [];
  const language = user.language_code?.split("-")[0] ?? "";
  const keys = scopesOf(chat, user).flatMap((scope) => [scopeKey(scope, language), scopeKey(scope, "")]);
  const key = keys.find((one) => (commands.get(one)?.length ?? 0) > 0);
  return key === undefined ? [] : (commands.get(key) ?? []);
}

/** Returns the key of a list of commands. */
export function scopeKey(scope: unknown, language: string): string {
  const { type, chat_id, user_id } = (scope ?? { type: "default" }) as Record<string, unknown>;
  const ids = {
    ...(chat_id !== undefined && { chat_id: Number(chat_id) }),
    ...(user_id !== undefined && { user_id: Number(user_id) }),
  };
  return `${JSON.stringify({ type, ...ids })}|${language}`;
}

function scopesOf(chat: Chat, user: Pick<User, "id">): readonly object[] {
  const here = { type: "chat", chat_id: chat.id };
  if (chat.type === "private") return [here, { type: "all_private_chats" }, { type: "default" }];
  return [
    { type: "chat_member", chat_id: chat.id, user_id: user.id },
    here,
    { type: "all_group_chats" },
    { type: "default" },
  ];
}
