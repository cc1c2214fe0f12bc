import type { MembershipChange } from "./message-schema.ts";

/** Tells whether the bot is in the chat, before or after a change of its membership. */
export function isMember(member: MembershipChange["new_chat_member"]): boolean {
  if (member.status === "restricted") return member.is_member ?? false;
  return member.status !== "left" && member.status !== "kicked";
}
