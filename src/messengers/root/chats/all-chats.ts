import type { ChatEntry, ChatFilter, ChatPage } from "../../../core/chat/chat.ts";

const PAGE = 1000;

/** Returns all chats that the bot can write to. */
export function allChats(listChats: (filter: ChatFilter) => ChatPage): ChatEntry[] {
  const chats: ChatEntry[] = [];
  for (let cursor: string | undefined; ;) {
    const page = listChats({ isGone: false, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    chats.push(...page.chats);
    cursor = page.cursor;
    if (cursor === undefined) return chats;
  }
}
