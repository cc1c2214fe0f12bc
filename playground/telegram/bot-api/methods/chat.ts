import { badRequest } from "../bot-api-error.ts";
import { readText } from "../call-parameters.ts";
import { scopeKey } from "../../chats/command-menu.ts";
import { toChat, toMessage } from "../../chats/message-object.ts";
import type { ChatState, World } from "../../chats/world.ts";
import { findMessage, readableChat, topicOf, writableChat } from "./context.ts";
import type { Method, MethodContext } from "./context.ts";

const actionLastsMs = 5000;

const chatActions: ReadonlySet<string> = new Set([
  "typing",
  "upload_photo",
  "record_video",
  "upload_video",
  "record_voice",
  "upload_voice",
  "upload_document",
  "choose_sticker",
  "find_location",
  "record_video_note",
  "upload_video_note",
]);

/** Number of the General topic. Only this call uses it. */
const generalTopic = 1;

export const sendChatAction: Method = (context, parameters) => {
  const action = parameters.string("action");
  if (!chatActions.has(action)) throw badRequest("wrong parameter action in request");
  const chat = writableChat(context, parameters);
  const isGeneral = chat.isForum && parameters.integer("message_thread_id") === generalTopic;
  const threadId = isGeneral ? undefined : topicOf(chat, parameters);
  chat.typingUntil.set(threadId ?? 0, { until: context.world.clock.now() + actionLastsMs, action });
  context.world.onChange();
  return true;
};

export const answerCallbackQuery: Method = ({ callbackQueries }, parameters) => {
  const text = parameters.string("text");
  if (text.length > 200) throw badRequest("MESSAGE_TOO_LONG");
  callbackQueries.answer(parameters.string("callback_query_id"), {
    ...(text !== "" && { text }),
    ...(parameters.boolean("show_alert") && { showAlert: true }),
    ...(parameters.has("url") && { url: parameters.string("url") }),
  });
  return true;
};

/** Reactions that people may use if a chat does not say otherwise. */
const reactionEmoji = new Set(
  "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡".split(
    " ",
  ),
);

export const setMessageReaction: Method = (context, parameters) => {
  const reactions = parameters.json("reaction", "reaction types") ?? [];
  if (!Array.isArray(reactions)) throw badRequest("expected an Array of ReactionType");
  const chat = writableChat(context, parameters);
  const message = findMessage(chat, parameters.integer("message_id"), "message to react");
  if (reactions.length > 1) throw badRequest("REACTIONS_TOO_MANY");
  const kept = reactions.map((reaction: unknown) => {
    const emoji =
      typeof reaction === "object" && reaction !== null && "emoji" in reaction ? reaction.emoji : undefined;
    const plain = typeof emoji === "string" ? emoji.replace(/\ufe0f$/, "") : "";
    if (!reactionEmoji.has(plain)) throw badRequest("REACTION_INVALID");
    return { type: "emoji" as const, emoji: plain as "👍" };
  });
  context.world.react(message, context.world.bot.id, kept);
  return true;
};

export const getChat: Method = (context, parameters) => {
  const chat = readableChat(context, parameters);
  return {
    ...toChat(context.world, chat),
    accent_color_id: 0,
    max_reaction_count: 11,
    accepted_gift_types: {
      unlimited_gifts: false,
      limited_gifts: false,
      unique_gifts: false,
      premium_subscription: false,
      gifts_from_channels: false,
    },
    ...(chat.type !== "private" && { permissions: { can_send_messages: true } }),
  };
};

export const getChatMember: Method = (context, parameters) => {
  const chat = readableChat(context, parameters);
  const userId = parameters.integer("user_id");
  const known = userId === context.world.bot.id || context.world.users.has(userId);
  if (!known) throw badRequest("invalid user_id specified");
  return chatMember(context.world, chat, userId);
};

export function chatMember(world: World, chat: ChatState, userId: number): object {
  const user = world.requireUser(userId);
  if (userId !== world.bot.id) return { user, status: chat.members.has(userId) ? "member" : "left" };
  const status = chat.blocked ? "kicked" : chat.botStatus;
  return { user: botUser(world), status, ...(status === "kicked" && { until_date: 0 }) };
}

/** Returns the bot as other people's clients see it: without the fields that only `getMe` shows. */
export function botUser(world: World): object {
  const { id, is_bot, first_name, username } = world.bot;
  return { id, is_bot, first_name, username };
}

export const pinChatMessage: Method = (context, parameters) => {
  const chat = writableChat(context, parameters);
  const message = findMessage(chat, parameters.integer("message_id"), "message to pin");
  if (chat.type !== "private" && chat.botStatus !== "administrator") {
    throw badRequest("not enough rights to manage pinned messages in the chat");
  }
  message.pinned = true;
  const service = context.world.addMessage(chat, {
    from: context.world.bot,
    ...(message.threadId !== undefined && { threadId: message.threadId }),
    service: { pinned_message: toMessage(context.world, chat, message, false) },
  });
  context.updates.add("message", toMessage(context.world, chat, service), {
    chatId: chat.id,
    lane: `messages:${chat.id}`,
  });
  return true;
};

/** Unpins one message, or without a number the one that was pinned last. Nobody is notified. */
export const unpinChatMessage: Method = (context, parameters) => {
  const chat = writableChat(context, parameters);
  if (chat.type !== "private" && chat.botStatus !== "administrator") {
    throw badRequest("not enough rights to manage pinned messages in the chat");
  }
  const message = parameters.has("message_id")
    ? findMessage(chat, parameters.integer("message_id"), "message to unpin")
    : [...chat.messages.values()].findLast(({ pinned }) => pinned);
  if (message === undefined) throw badRequest("message to unpin not found");
  message.pinned = false;
  context.world.onChange();
  return true;
};

export const leaveChat: Method = (context, parameters) => {
  const chat = writableChat(context, parameters);
  if (chat.type === "private") throw badRequest("chat not found");
  chat.botStatus = "left";
  context.world.onChange();
  return true;
};

export const setMyCommands: Method = ({ commands }, parameters) => {
  const list = parameters.json("commands");
  if (!Array.isArray(list)) throw badRequest("expected an Array of BotCommand");
  if (list.length > 100) throw badRequest("BOT_COMMANDS_TOO_MUCH");
  const parsed = list.map((item: unknown) => {
    const fields = (typeof item === "object" && item !== null ? item : {}) as Record<string, unknown>;
    const command = readText(fields.command).replace(/^\//, "");
    const description = readText(fields.description);
    if (!/^[a-z0-9_]{1,32}$/.test(command)) throw badRequest("BOT_COMMAND_INVALID");
    if (description.length < 1 || description.length > 256)
      throw badRequest("BOT_COMMAND_DESCRIPTION_INVALID");
    return { command, description };
  });
  commands.set(commandScope(parameters), parsed);
  return true;
};

export const getMyCommands: Method = ({ commands }, parameters) =>
  commands.get(commandScope(parameters)) ?? [];

export const deleteMyCommands: Method = ({ commands }, parameters) => {
  commands.delete(commandScope(parameters));
  return true;
};

function commandScope(parameters: Parameters<Method>[1]): string {
  return scopeKey(parameters.json("scope", "BotCommandScope"), parameters.string("language_code"));
}

export const getMe: Method = ({ world }: MethodContext) => world.bot;
