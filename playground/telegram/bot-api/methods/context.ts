import type { Message } from "grammy/types";
import { badRequest, BotApiError, forbidden } from "../bot-api-error.ts";
import type { CallbackQueries } from "../../chats/callback-queries.ts";
import type { CallParameters } from "../call-parameters.ts";
import { toMessage } from "../../chats/message-object.ts";
import type { Updates } from "../../webhook/updates.ts";
import type { WebhookDelivery } from "../../webhook/webhook-delivery.ts";
import type { ChatState, StoredMessage, World } from "../../chats/world.ts";

/** Everything that the methods work on. */
export interface MethodContext {
  readonly world: World;
  readonly updates: Updates;
  readonly delivery: WebhookDelivery;
  readonly callbackQueries: CallbackQueries;
  readonly commands: Map<string, readonly object[]>;
}

/**
 * Runs one Bot API method.
 * @throws {BotApiError} when Telegram would refuse the call
 */
export type Method = (context: MethodContext, parameters: CallParameters) => unknown;

/** Returns the chat of a call, if the bot may write there. */
export function writableChat({ world }: MethodContext, parameters: CallParameters): ChatState {
  const chat = readableChat({ world }, parameters);
  if (chat.type === "private" && chat.blocked) throw forbidden("bot was blocked by the user");
  if (chat.migratedTo !== undefined) {
    throw new BotApiError(400, "Bad Request: group chat was upgraded to a supergroup chat", {
      migrate_to_chat_id: chat.migratedTo,
    });
  }
  const name = chat.type === "group" ? "group" : "supergroup";
  if (chat.botStatus === "kicked") throw forbidden(`bot was kicked from the ${name} chat`);
  if (chat.botStatus === "left") throw forbidden(`bot is not a member of the ${name} chat`);
  return chat;
}

export function readableChat({ world }: Pick<MethodContext, "world">, parameters: CallParameters): ChatState {
  const text = parameters.string("chat_id");
  if (text === "") throw badRequest("chat_id is empty");
  const id = Number(text);
  const chat = world.chats.get(id);
  if (chat !== undefined) return chat;
  if (world.users.has(id)) throw forbidden("bot can't initiate conversation with a user");
  throw badRequest("chat not found");
}

/** Returns the topic of a call. Only forums have topics. Other groups ignore the parameter; private chats refuse it. */
export function topicOf(chat: ChatState, parameters: CallParameters): number | undefined {
  const threadId = parameters.integer("message_thread_id");
  if (threadId <= 0 || chat.type === "group" || (chat.type === "supergroup" && !chat.isForum))
    return undefined;
  if (!chat.topics.has(threadId)) throw badRequest("message thread not found");
  return threadId;
}

/** Returns the topic of a message that is sent. In a closed one only administrators may write. */
export function writableTopic(chat: ChatState, parameters: CallParameters): number | undefined {
  const threadId = topicOf(chat, parameters);
  const isClosed = threadId !== undefined && chat.closedTopics.has(threadId);
  if (isClosed && chat.botStatus !== "administrator") throw badRequest("TOPIC_CLOSED");
  return threadId;
}

export function findMessage(chat: ChatState, id: number, what: string): StoredMessage {
  const message = id > 0 ? chat.messages.get(id) : undefined;
  if (message === undefined) throw badRequest(`${what} not found`);
  return message;
}

export interface ReplyTarget {
  readonly replyToId?: number;
  readonly quote?: string;
  /** Topic of the answered message. The answer goes to the same topic. */
  readonly threadId?: number;
}

export function replyTarget(chat: ChatState, parameters: CallParameters): ReplyTarget {
  const given = parameters.json("reply_parameters", "reply parameters");
  if (given !== undefined && (typeof given !== "object" || given === null || Array.isArray(given))) {
    throw badRequest("object expected as reply parameters");
  }
  const fields = (given ?? {}) as Record<string, unknown>;
  const id = Number(fields.message_id ?? parameters.integer("reply_to_message_id"));
  if (!Number.isInteger(id) || id <= 0) return {};
  const message = chat.messages.get(id);
  if (message === undefined) {
    const allowed =
      fields.allow_sending_without_reply === true || parameters.boolean("allow_sending_without_reply");
    if (allowed) return {};
    throw badRequest("message to be replied not found");
  }
  const quote = typeof fields.quote === "string" && fields.quote !== "" ? fields.quote : undefined;
  if (quote !== undefined && !message.text.includes(quote)) throw badRequest("QUOTE_TEXT_INVALID");
  return {
    replyToId: id,
    ...(quote !== undefined && { quote }),
    ...(message.threadId !== undefined && { threadId: message.threadId }),
  };
}

export function shown(context: MethodContext, chat: ChatState, message: StoredMessage): Message {
  return toMessage(context.world, chat, message);
}
