import type { CallbackQuery, Message, MessageEntity, ReactionTypeEmoji, User } from "grammy/types";
import type { CallbackQueries } from "./callback-queries.ts";
import { fixFormattedText } from "../bot-api/format/formatted-text.ts";
import { toChat, toMessage } from "./message-object.ts";
import { botUser } from "../bot-api/methods/chat.ts";
import { newMediaGroupId, storeMedia } from "../bot-api/methods/media.ts";
import { maxCaptionLength, maxTextLength } from "../bot-api/methods/text.ts";
import type { Updates } from "../webhook/updates.ts";
import type { ChatState, Media, StoredMessage, World } from "./world.ts";

export interface SendOptions {
  readonly replyTo?: number;
  /** The part of the answered message that is quoted. */
  readonly quote?: string;
  readonly threadId?: number;
  readonly entities?: readonly MessageEntity[];
  /** Seconds since 1970. @default now */
  readonly date?: number;
}

export interface AttachmentOptions extends Pick<SendOptions, "replyTo" | "threadId"> {
  readonly bytes: Uint8Array;
  readonly caption?: string;
  readonly mediaGroupId?: string;
}

export interface DocumentOptions extends AttachmentOptions {
  readonly fileName: string;
  readonly mimeType: string;
}

/** Everything that people do in their chats. Each action makes the updates that the bot gets. */
export class People {
  readonly #world: World;
  readonly #updates: Updates;
  readonly #callbackQueries: CallbackQueries;

  constructor(world: World, updates: Updates, callbackQueries: CallbackQueries) {
    this.#world = world;
    this.#updates = updates;
    this.#callbackQueries = callbackQueries;
  }

  sendText(chat: ChatState, user: User, text: string, options: SendOptions = {}): Message {
    const formatted = fixFormattedText(text, options.entities ?? []);
    if (formatted.text === "") throw new Error("A person cannot send an empty message.");
    requireFits(formatted.text, "message", maxTextLength);
    return this.#post(chat, user, { ...formatted, ...placement(chat, options) });
  }

  editText(chat: ChatState, user: User, messageId: number, text: string): Message {
    const message = this.#world.requireMessage(chat, messageId);
    if (message.from.id !== user.id) throw new Error(`Message ${messageId} is not ${user.first_name}'s.`);
    const formatted = fixFormattedText(text, []);
    requireFits(formatted.text, "message", maxTextLength);
    this.#world.editMessage(message, formatted, message.markup);
    const edited = toMessage(this.#world, chat, message);
    this.#tell(chat, "edited_message", edited);
    return edited;
  }

  sendPhoto(chat: ChatState, user: User, options: AttachmentOptions): Message {
    const upload = { bytes: options.bytes, fileName: "photo.jpg", mimeType: "image/jpeg" };
    return this.#attach(chat, user, options, storeMedia(this.#world, "photo", upload));
  }

  sendDocument(chat: ChatState, user: User, options: DocumentOptions): Message {
    const { bytes, fileName, mimeType } = options;
    return this.#attach(
      chat,
      user,
      options,
      storeMedia(this.#world, "document", { bytes, fileName, mimeType }),
    );
  }

  sendVoice(
    chat: ChatState,
    user: User,
    options: AttachmentOptions & { readonly durationSeconds?: number },
  ): Message {
    const upload = { bytes: options.bytes, fileName: "voice.oga", mimeType: "audio/ogg" };
    const media = storeMedia(this.#world, "voice", upload, { duration: options.durationSeconds ?? 1 });
    return this.#attach(chat, user, options, media);
  }

  sendAudio(chat: ChatState, user: User, options: DocumentOptions): Message {
    return this.#attach(chat, user, options, storeMedia(this.#world, "audio", options));
  }

  sendVideo(chat: ChatState, user: User, options: DocumentOptions): Message {
    return this.#attach(chat, user, options, storeMedia(this.#world, "video", options));
  }

  /** Sends several photos or documents at once: one message each, joined by their media group. */
  sendAlbum(
    chat: ChatState,
    user: User,
    items: readonly (AttachmentOptions | DocumentOptions)[],
  ): readonly Message[] {
    const mediaGroupId = newMediaGroupId(this.#world);
    return items.map((item) =>
      "fileName" in item
        ? this.sendDocument(chat, user, { ...item, mediaGroupId })
        : this.sendPhoto(chat, user, { ...item, mediaGroupId }),
    );
  }

  /** Presses an inline button, found by its callback data or by its text. */
  pressButton(chat: ChatState, user: User, messageId: number, dataOrText: string): CallbackQuery {
    const message = this.#world.requireMessage(chat, messageId);
    const buttons = message.markup?.kind === "inline" ? message.markup.markup.inline_keyboard.flat() : [];
    const button =
      buttons.find((candidate) => "callback_data" in candidate && candidate.callback_data === dataOrText) ??
      buttons.find((candidate) => candidate.text === dataOrText);
    if (button === undefined) throw new Error(`Message ${messageId} has no button "${dataOrText}".`);
    if (!("callback_data" in button))
      throw new Error(`The button "${button.text}" sends nothing to the bot.`);
    return this.pressData(chat, user, messageId, button.callback_data);
  }

  /** Presses data that no button of the message has any more, as a modified client can. */
  pressData(chat: ChatState, user: User, messageId: number, data: string): CallbackQuery {
    const message = chat.messages.get(messageId);
    const id = this.#callbackQueries.press({ chatId: chat.id, userId: user.id, messageId });
    const query: CallbackQuery = {
      id,
      from: user,
      message:
        message === undefined
          ? { chat: toChat(this.#world, chat), message_id: messageId, date: 0 }
          : toMessage(this.#world, chat, message),
      chat_instance: String(BigInt(Math.abs(chat.id)) * 7_919n),
      data,
    };
    this.#updates.add("callback_query", query, { chatId: chat.id, lane: `presses:${user.id}` });
    return query;
  }

  react(chat: ChatState, user: User, messageId: number, emoji: string | readonly string[]): void {
    const message = this.#world.requireMessage(chat, messageId);
    const before = message.reactions.filter((reaction) => reaction.userId === user.id);
    const after = [emoji].flat().map((one) => ({ type: "emoji", emoji: one }) as ReactionTypeEmoji);
    this.#world.react(message, user.id, after);
    if (chat.type !== "private" && chat.botStatus !== "administrator") return;
    this.#updates.add(
      "message_reaction",
      {
        chat: toChat(this.#world, chat),
        message_id: messageId,
        user,
        date: this.#world.nowSeconds(),
        old_reaction: before.map((reaction) => ({ type: "emoji", emoji: reaction.emoji })),
        new_reaction: after,
      },
      { chatId: chat.id, lane: `reactions:${chat.id}` },
    );
  }

  pin(chat: ChatState, user: User, messageId: number): Message {
    const message = this.#world.requireMessage(chat, messageId);
    message.pinned = true;
    const service = { pinned_message: toMessage(this.#world, chat, message, false) };
    return this.#post(chat, user, { service, ...threadOf(message) });
  }

  /** Takes down a pinned message. Telegram does not tell bots. */
  unpin(chat: ChatState, messageId: number): void {
    this.#world.requireMessage(chat, messageId).pinned = false;
    this.#world.onChange();
  }

  /** Deletes a message. Telegram does not tell bots. */
  deleteMessage(chat: ChatState, messageId: number): void {
    this.#world.requireMessage(chat, messageId);
    this.#world.deleteMessage(chat, messageId);
  }

  join(chat: ChatState, user: User): Message {
    this.#world.users.set(user.id, user);
    chat.members.add(user.id);
    return this.#post(chat, user, { service: { new_chat_members: [user] } });
  }

  leave(chat: ChatState, user: User): Message {
    const message = this.#post(chat, user, { service: { left_chat_member: user } });
    chat.members.delete(user.id);
    this.#world.onChange();
    return message;
  }

  changeTitle(chat: ChatState, user: User, title: string): Message {
    return this.#post(chat, user, { service: { new_chat_title: title } });
  }

  /**
   * Turns a basic group into a supergroup: a new chat with its own message numbers. The old chat refuses the bot's
   * messages. Telegram tells the bot that it joined the new chat, but not that it left the old one.
   */
  upgradeGroup(chat: ChatState, user: User): ChatState {
    if (chat.type !== "group") throw new Error(`Chat ${chat.id} is not a basic group.`);
    const upgraded = this.#world.addGroup({
      title: chat.title ?? "",
      type: "supergroup",
      isForum: false,
      members: [...chat.members].map((id) => this.#world.requireUser(id)),
      botIsAdministrator: chat.botStatus === "administrator",
    });
    this.#botStatusChanged(upgraded, user, "left", upgraded.botStatus);
    this.#post(chat, user, { service: { migrate_to_chat_id: upgraded.id } });
    chat.migratedTo = upgraded.id;
    this.#post(upgraded, user, { service: { migrate_from_chat_id: chat.id } });
    return upgraded;
  }

  addTopic(chat: ChatState, user: User, name: string): number {
    if (!chat.isForum) throw new Error(`Chat ${chat.id} is not a forum.`);
    const threadId = this.#world.boxOf(chat).lastId + 1;
    chat.topics.set(threadId, name);
    this.#post(chat, user, { threadId, service: { forum_topic_created: { name, icon_color: 7_322_096 } } });
    return threadId;
  }

  /** Closes a topic, or opens it again. */
  setTopicClosed(chat: ChatState, user: User, threadId: number, isClosed: boolean): void {
    if (!chat.topics.has(threadId)) throw new Error(`Chat ${chat.id} has no topic ${threadId}.`);
    if (chat.closedTopics.has(threadId) === isClosed) return;
    if (isClosed) chat.closedTopics.add(threadId);
    else chat.closedTopics.delete(threadId);
    const service = isClosed ? { forum_topic_closed: {} } : { forum_topic_reopened: {} };
    this.#post(chat, user, { threadId, service });
  }

  setBlocked(user: User, blocked: boolean): void {
    const chat = this.#world.privateChat(user);
    if (chat.blocked === blocked) return;
    chat.blocked = blocked;
    this.#botStatusChanged(chat, user, blocked ? "member" : "kicked", blocked ? "kicked" : "member");
  }

  /** Adds the bot to a group, or removes it. */
  setBotStatus(chat: ChatState, by: User, status: ChatState["botStatus"]): void {
    const before = chat.botStatus;
    chat.botStatus = status;
    this.#botStatusChanged(chat, by, before, status);
  }

  botAdded(chat: ChatState, by: User): void {
    this.#botStatusChanged(chat, by, "left", chat.botStatus);
    this.#post(chat, by, { service: { new_chat_members: [botUser(this.#world) as User] } });
  }

  stopDraft(chat: ChatState): void {
    const draft = this.#world.draftIn(chat);
    if (draft?.canStop !== true) throw new Error(`Chat ${chat.id} has no draft that can be stopped.`);
    if (!draft.keepOnStop) delete chat.draft;
    this.#world.onChange();
    this.#updates.add(
      "stopped_message_generation",
      {
        chat: toChat(this.#world, chat),
        draft_id: draft.id,
        ...(draft.threadId !== undefined && { message_thread_id: draft.threadId }),
      },
      { chatId: chat.id, lane: `stops:${chat.id}` },
    );
  }

  #attach(chat: ChatState, user: User, options: AttachmentOptions, media: Media): Message {
    const caption = fixFormattedText(options.caption ?? "", []);
    requireFits(caption.text, "caption", maxCaptionLength);
    return this.#post(chat, user, {
      ...caption,
      media,
      ...(options.mediaGroupId !== undefined && { mediaGroupId: options.mediaGroupId }),
      ...placement(chat, options),
    });
  }

  #post(
    chat: ChatState,
    user: User,
    content: Partial<Omit<StoredMessage, "id" | "chatId" | "versions">>,
  ): Message {
    if (chat.type !== "private" && !chat.members.has(user.id)) {
      throw new Error(`${user.first_name} is not a member of chat ${chat.id}.`);
    }
    if (content.threadId !== undefined && !chat.topics.has(content.threadId)) {
      throw new Error(`Chat ${chat.id} has no topic ${content.threadId}.`);
    }
    // A person who writes to a bot must have unblocked it. Telegram's clients offer nothing else.
    if (chat.type === "private" && chat.blocked) this.setBlocked(user, false);
    const message = toMessage(this.#world, chat, this.#world.addMessage(chat, { ...content, from: user }));
    this.#tell(chat, "message", message);
    return message;
  }

  #tell(chat: ChatState, kind: "message" | "edited_message", message: Message): void {
    if (chat.botStatus === "kicked" || chat.botStatus === "left") return;
    this.#updates.add(kind, message, { chatId: chat.id, lane: `messages:${chat.id}` });
  }

  #botStatusChanged(chat: ChatState, by: User, before: string, after: string): void {
    const bot = botUser(this.#world);
    this.#world.onChange();
    this.#updates.add(
      "my_chat_member",
      {
        chat: toChat(this.#world, chat),
        from: by,
        date: this.#world.nowSeconds(),
        old_chat_member: { user: bot, status: before, ...(before === "kicked" && { until_date: 0 }) },
        new_chat_member: { user: bot, status: after, ...(after === "kicked" && { until_date: 0 }) },
      },
      { chatId: chat.id, lane: `membership:${chat.id}` },
    );
  }
}

/** Refuses a text that Telegram's clients would cut into several messages. Callers of the simulator must cut it too. */
function requireFits(text: string, what: "message" | "caption", maxLength: number): void {
  if (text.length <= maxLength) return;
  const advice = what === "message" ? " Send it in several messages, as Telegram's clients do." : "";
  throw new Error(
    `A person's ${what} has at most ${maxLength} characters (UTF-16 units); this one has ${text.length}.${advice}`,
  );
}

function placement(chat: ChatState, options: SendOptions): Partial<StoredMessage> {
  const replied = options.replyTo === undefined ? undefined : chat.messages.get(options.replyTo);
  const threadId = options.threadId ?? replied?.threadId;
  return {
    ...(options.replyTo !== undefined && { replyToId: options.replyTo }),
    ...(options.quote !== undefined && { quote: options.quote }),
    ...(threadId !== undefined && threadId !== 0 && { threadId }),
    ...(options.date !== undefined && { date: options.date }),
  };
}

function threadOf(message: StoredMessage): Partial<StoredMessage> {
  return message.threadId === undefined ? {} : { threadId: message.threadId };
}
