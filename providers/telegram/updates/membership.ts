import type { MessengerMemberChange } from "../../../src/core/chat/messenger-event.ts";
import { userAuthor } from "./author.ts";
import { memberMessage } from "./message-schema.ts";
import type { MembershipChange } from "./message-schema.ts";

/** Tells whether the bot is in the chat, before or after a change of its membership. */
export function isMember(member: MembershipChange["new_chat_member"]): boolean {
  if (member.status === "restricted") return member.is_member ?? false;
  return member.status !== "left" && member.status !== "kicked";
}

/**
 * Returns who joined or left, of a service message. The bot itself is left out: an update of its own says the same.
 * Undefined if it is about something else, or about nobody else.
 */
export function memberChangeOf(content: unknown, botId: string): MessengerMemberChange | undefined {
  const parsed = memberMessage.safeParse(content);
  if (!parsed.success) return undefined;
  const { left_chat_member: left, new_chat_members: joined } = parsed.data;
  const people = (joined ?? (left ? [left] : [])).map(userAuthor).filter(({ userId }) => userId !== botId);
  if (people.length === 0) return undefined;
  return { change: joined ? "joined" : "left", people };
}
