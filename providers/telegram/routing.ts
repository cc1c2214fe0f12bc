import { z } from "zod";
import { parseCardToken } from "../../src/core/chat/card-token.ts";
import type { ChatPlace } from "../../src/core/chat/chat-move.ts";
import { isDeeperThan } from "../../src/core/json/json-depth.ts";
import type { IncomingEvent } from "../../src/core/chat/messenger.ts";
import type { MessengerThread } from "../../src/core/chat/messenger-event.ts";
import { updateKindOf } from "./updates/update-kinds.ts";

/**
 * The place of an update and its durable key, read from as few of its fields as possible, because this runs in the root
 * for every webhook. The thread parses the rest.
 */
export type RoutedUpdate =
  | { readonly kind: "routed"; readonly event: IncomingEvent }
  | { readonly kind: "ignored"; readonly updateKind: string }
  /** A press of a button that belongs to no chat (under an inline message). It is only answered. */
  | { readonly kind: "press"; readonly queryId: string; readonly updateKind: string }
  | { readonly kind: "invalid"; readonly reason: string };

const envelopeChat = z.object({
  id: z.int(),
  type: z.enum(["private", "group", "supergroup", "channel"]),
  title: z.string().nullish().catch(undefined),
});

const envelope = z.object({
  message_id: z.int(),
  chat: envelopeChat,
  message_thread_id: z.int().nullish().catch(undefined),
  is_topic_message: z.boolean().nullish().catch(undefined),
  edit_date: z.int().nullish().catch(undefined),
  migrate_to_chat_id: z.int().nullish().catch(undefined),
  migrate_from_chat_id: z.int().nullish().catch(undefined),
});

const callbackEnvelope = z.object({
  id: z.string().min(1),
  data: z.string().nullish().catch(undefined),
  message: envelope.nullish().catch(undefined),
});
const stopEnvelope = z.object({
  chat: envelopeChat,
  message_thread_id: z.int().nullish().catch(undefined),
});
/** An update with a chat. Its other fields are ignored. */
const chatEnvelope = z.object({ chat: envelopeChat });

type EnvelopeChat = z.infer<typeof envelopeChat>;
type Envelope = z.infer<typeof envelope>;

/** Much deeper than any real update, including rich and quoted messages. */
const maxDepth = 100;

/** Kinds of updates that the bot wants. */
export interface RoutingSettings {
  readonly reactions: boolean;
  /** Whether the bot has code for kinds that Switchboard does not handle. */
  readonly takesUpdates: boolean;
  readonly botId: string;
}

const handledOnly: RoutingSettings = { reactions: false, takesUpdates: false, botId: "" };

/** Routes the JSON of a webhook. Never throws: any input is routed, ignored or called invalid. */
export function routeUpdate(update: unknown, settings = handledOnly): RoutedUpdate {
  if (typeof update !== "object" || update === null || Array.isArray(update)) {
    return { kind: "invalid", reason: "The body is not a Bot API update: a JSON object is expected." };
  }
  const updateId = "update_id" in update ? update.update_id : undefined;
  if (!Number.isSafeInteger(updateId)) {
    return { kind: "invalid", reason: "The body is not a Bot API update: `update_id` is not an integer." };
  }
  const { kind, treatment } = updateKindOf(update as Record<string, unknown>, settings.reactions);
  // It could never be stored, and would be delivered again forever.
  if (isDeeperThan(update, maxDepth)) return unreadable(kind);
  const content = (update as Record<string, unknown>)[kind];
  const updateKey = `u:${String(updateId)}`;
  switch (treatment) {
    case "ignored":
      if (!settings.takesUpdates) return { kind: "ignored", updateKind: kind };
      return routed(updateKey, placeOfUpdate(content, settings.botId), update, { isOfChat: true });
    case "reaction": {
      const reaction = chatEnvelope.safeParse(content);
      if (!reaction.success) return unreadable(kind);
      return routed(updateKey, chatThread(reaction.data.chat), update, { isOfChat: true });
    }
    case "message":
    case "edit": {
      const message = envelope.safeParse(content);
      if (!message.success) return unreadable(kind);
      const key = messageKey(message.data, treatment, updateKey);
      const messageId = String(message.data.message_id);
      const more = treatment === "message" ? { messageId, ...moveOf(message.data) } : {};
      return routed(key, threadOf(message.data), update, more);
    }
    case "callback": {
      const query = callbackEnvelope.safeParse(content);
      if (!query.success) return unreadable(kind);
      const { data, id, message } = query.data;
      if (!message && settings.takesUpdates)
        return routed(`c:${id}`, placeOfUpdate(undefined, settings.botId), update, { isOfChat: true });
      if (!message) return { kind: "press", queryId: id, updateKind: `${kind}:no-chat` };
      const isCardPress = parseCardToken(data ?? "") !== undefined;
      return routed(`c:${id}`, threadOf(message), update, isCardPress ? { isCardPress } : {});
    }
    case "stop": {
      const stop = stopEnvelope.safeParse(content);
      if (!stop.success) return unreadable(kind);
      const { chat, message_thread_id: topicId } = stop.data;
      return routed(updateKey, chatThread(chat, topicId ? String(topicId) : undefined), update);
    }
    case "membership": {
      const change = chatEnvelope.safeParse(content);
      if (!change.success) return unreadable(kind);
      return routed(updateKey, chatThread(change.data.chat), update);
    }
    default:
      return treatment satisfies never;
  }
}

/**
 * Returns the thread id of the Chat SDK's adapter, so that a bot that used the adapter finds its threads again. It
 * differs on purpose for replies in an ordinary supergroup, which are not separate threads here.
 */
export function telegramThreadId(chatId: string, topicId: string | undefined): string {
  return topicId === undefined ? `telegram:${chatId}` : `telegram:${chatId}:${topicId}`;
}

/** Returns the place of a chat outside of its topics. */
export function placeOfChat(id: number): ChatPlace {
  const chatId = String(id);
  return { chatId, threadId: telegramThreadId(chatId, undefined) };
}

/**
 * Returns the move of a group that became a supergroup, which is another chat. A message in the old chat says so, and
 * one in the new chat. Only groups have these fields, and only the platform writes them.
 */
function moveOf(message: Envelope): Pick<IncomingEvent, "move"> {
  const { chat, migrate_from_chat_id: fromId, migrate_to_chat_id: toId } = message;
  if (typeof toId === "number") return { move: { from: placeOfChat(chat.id), to: placeOfChat(toId) } };
  if (typeof fromId === "number") return { move: { from: placeOfChat(fromId), to: placeOfChat(chat.id) } };
  return {};
}

function routed(
  key: string,
  thread: MessengerThread,
  raw: unknown,
  more: Pick<IncomingEvent, "messageId" | "move" | "isCardPress" | "isOfChat"> = {},
): RoutedUpdate {
  return { kind: "routed", event: { key, thread, raw, ...more } };
}

/**
 * Returns the chat of an update. An update without a chat, such as an inline query, goes to a thread of the bot itself.
 */
function placeOfUpdate(content: unknown, botId: string): MessengerThread {
  const known = chatEnvelope.safeParse(content);
  if (known.success) return chatThread(known.data.chat);
  return { id: telegramThreadId(botId, undefined), chatId: botId, isDirectMessage: false };
}

function unreadable(kind: string): RoutedUpdate {
  return { kind: "ignored", updateKind: `${kind}:unreadable` };
}

/**
 * Returns the durable key of a message. Id 0 identifies nothing: the platform has not numbered the message yet, and
 * many share this id. The date of an edit has whole seconds, and a person can edit twice in one. The update's id tells
 * the two apart, and it is the same in every redelivery.
 */
function messageKey(message: Envelope, treatment: "message" | "edit", updateKey: string): string {
  if (message.message_id === 0) return updateKey;
  const id = `${message.chat.id}:${message.message_id}`;
  return treatment === "message" ? `m:${id}` : `e:${id}:${message.edit_date ?? 0}:${updateKey}`;
}

/** The General topic of a forum. Its messages have no thread id, or this one, which no call accepts. */
const generalTopicId = 1;

function threadOf(message: Envelope): MessengerThread {
  const { chat, message_thread_id: threadId } = message;
  // Without `is_topic_message`, a thread id only names the first message of a chain of replies.
  const isTopic = message.is_topic_message === true && typeof threadId === "number";
  const isGeneral = threadId === generalTopicId && chat.type !== "private";
  return chatThread(chat, isTopic && !isGeneral ? String(threadId) : undefined);
}

function chatThread(chat: EnvelopeChat, topicId?: string): MessengerThread {
  const chatId = String(chat.id);
  return {
    id: telegramThreadId(chatId, topicId),
    chatId,
    ...(topicId === undefined ? {} : { topicId }),
    isDirectMessage: chat.type === "private",
    ...(typeof chat.title === "string" ? { title: chat.title } : {}),
  };
}
