import type { Message, User } from "grammy/types";

/** Describes a service message in plain words. */
export function serviceWords(service: Partial<Message>, from: User): string {
  const who = nameOf(from);
  if (service.new_chat_members !== undefined) {
    const others = service.new_chat_members.filter(({ id }) => id !== from.id).map(nameOf);
    return others.length === 0 ? `${who} joined` : `${who} added ${others.join(", ")}`;
  }
  if (service.left_chat_member !== undefined) {
    const { id } = service.left_chat_member;
    return id === from.id ? `${who} left` : `${who} removed ${nameOf(service.left_chat_member)}`;
  }
  if (service.new_chat_title !== undefined) return `${who} named the group “${service.new_chat_title}”`;
  if (service.forum_topic_created !== undefined)
    return `${who} opened the topic “${service.forum_topic_created.name}”`;
  if (service.forum_topic_closed !== undefined) return `${who} closed the topic`;
  if (service.forum_topic_reopened !== undefined) return `${who} reopened the topic`;
  if (service.pinned_message !== undefined) {
    const { text, caption } = service.pinned_message as Partial<Message>;
    const pinned = text ?? caption;
    return pinned === undefined ? `${who} pinned a message` : `${who} pinned “${clip(pinned)}”`;
  }
  if (service.migrate_to_chat_id !== undefined) return `${who} made this group a supergroup`;
  if (service.migrate_from_chat_id !== undefined) return "This group became a supergroup";
  return `${who}: ${(Object.keys(service)[0] ?? "something happened").replaceAll("_", " ")}`;
}

function nameOf(user: User): string {
  return [user.first_name, user.last_name].filter(Boolean).join(" ");
}

function clip(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, " "));
  return characters.length > 40 ? `${characters.slice(0, 40).join("")}…` : characters.join("");
}
