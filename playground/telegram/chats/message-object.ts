import type { Chat, Message, TextQuote } from "grammy/types";
import type { ChatState, StoredMessage, World } from "./world.ts";

/** Returns the Bot API's `Chat`. */
export function toChat(world: World, chat: ChatState): Chat {
  if (chat.type === "private") {
    const user = world.requireUser(chat.id);
    return {
      id: chat.id,
      type: "private",
      first_name: user.first_name,
      ...(user.last_name !== undefined && { last_name: user.last_name }),
      ...(user.username !== undefined && { username: user.username }),
    };
  }
  const title = chat.title ?? "";
  if (chat.type === "group") return { id: chat.id, type: "group", title };
  return { id: chat.id, type: "supergroup", title, ...(chat.isForum && { is_forum: true as const }) };
}

/** Returns the Bot API's `Message`. A quoted message is returned without the message that it quotes itself. */
export function toMessage(world: World, chat: ChatState, stored: StoredMessage, withReply = true): Message {
  const inTopic = stored.threadId !== undefined && chat.topics.has(stored.threadId);
  const threadId = stored.threadId ?? replyThread(chat, stored);
  const text = stored.text === "" ? {} : textFields(stored);
  const replied = withReply ? repliedMessage(world, chat, stored) : undefined;
  return {
    message_id: stored.id,
    from: stored.from,
    chat: toChat(world, chat),
    date: stored.date,
    ...(stored.editDate !== undefined && { edit_date: stored.editDate }),
    ...(threadId !== undefined && { message_thread_id: threadId }),
    ...(inTopic && { is_topic_message: true }),
    ...(stored.mediaGroupId !== undefined && { media_group_id: stored.mediaGroupId }),
    ...stored.media,
    ...text,
    ...(stored.markup?.kind === "inline" && { reply_markup: stored.markup.markup }),
    ...(replied !== undefined && { reply_to_message: { ...replied, reply_to_message: undefined } }),
    ...(stored.quote !== undefined && { quote: quoteOf(chat, stored, stored.quote) }),
    ...stored.service,
  };
}

function quoteOf(chat: ChatState, stored: StoredMessage, text: string): TextQuote {
  const answered = stored.replyToId === undefined ? undefined : chat.messages.get(stored.replyToId);
  return { text, position: Math.max(0, answered?.text.indexOf(text) ?? 0), is_manual: true };
}

function textFields(stored: StoredMessage): Partial<Message> {
  if (stored.rich !== undefined) return { rich_message: { blocks: [...stored.rich] } };
  const entities = stored.entities.length > 0 ? [...stored.entities] : undefined;
  if (stored.media !== undefined) {
    return { caption: stored.text, ...(entities !== undefined && { caption_entities: entities }) };
  }
  return { text: stored.text, ...(entities !== undefined && { entities }) };
}

/**
 * Returns the message that this one answers. In a topic, a message that answers none "answers" the service message that
 * opened the topic.
 */
function repliedMessage(world: World, chat: ChatState, stored: StoredMessage): Message | undefined {
  const id = stored.replyToId ?? (stored.service === undefined ? stored.threadId : undefined);
  const replied = id === undefined || id === stored.id ? undefined : chat.messages.get(id);
  return replied === undefined ? undefined : toMessage(world, chat, replied, false);
}

/**
 * Returns the thread of an answer in a supergroup without topics: the number of the message with which the thread
 * began.
 */
function replyThread(chat: ChatState, stored: StoredMessage): number | undefined {
  if (chat.type !== "supergroup" || chat.isForum) return undefined;
  let root: StoredMessage | undefined;
  let next = stored.replyToId === undefined ? undefined : chat.messages.get(stored.replyToId);
  while (next !== undefined) {
    root = next;
    next = next.replyToId === undefined ? undefined : chat.messages.get(next.replyToId);
  }
  return root?.id;
}
