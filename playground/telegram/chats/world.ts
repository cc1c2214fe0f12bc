import type { Message, MessageEntity, ReactionTypeEmoji, RichBlock, User, UserFromGetMe } from "grammy/types";
import type { Clock } from "../clock.ts";
import { badRequest } from "../bot-api/bot-api-error.ts";
import type { Markup } from "./reply-markup.ts";

/** The attachments of a message, shaped as the Bot API shows them. */
export type Media = Pick<
  Message,
  "photo" | "document" | "voice" | "audio" | "video" | "animation" | "location" | "venue"
>;

/** Content of a message or a draft. */
export interface Content {
  /** For a rich message, its words. */
  readonly text: string;
  readonly entities: readonly MessageEntity[];
  /** Set for a rich message. */
  readonly rich?: readonly RichBlock[] | undefined;
}

/** Content of a message from the time `at` on, in milliseconds. */
export interface MessageVersion extends Content {
  readonly at: number;
}

/** A message as the servers store it. With media, `text` is the caption. */
export interface StoredMessage {
  readonly id: number;
  readonly chatId: number;
  readonly threadId?: number;
  readonly from: User;
  /** Seconds since 1970. */
  readonly date: number;
  editDate?: number;
  text: string;
  entities: readonly MessageEntity[];
  rich?: readonly RichBlock[] | undefined;
  media?: Media;
  readonly mediaGroupId?: string;
  /** Sent without a sound. */
  readonly silent?: boolean;
  /** People cannot forward or save it. */
  readonly isProtected?: boolean;
  readonly replyToId?: number;
  readonly quote?: string;
  markup?: Markup;
  readonly service?: Partial<Message>;
  reactions: { readonly userId: number; readonly emoji: string }[];
  pinned: boolean;
  readonly versions: MessageVersion[];
}

/** The sequence that numbers messages: one for all private chats and basic groups, one per supergroup. */
export interface MessageBox {
  lastId: number;
}

export interface Draft extends Content {
  readonly id: number;
  readonly threadId?: number;
  /** Time at which the draft disappears, in milliseconds. */
  readonly until: number;
  readonly canStop: boolean;
  readonly keepOnStop: boolean;
}

export interface ChatState {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup";
  readonly title?: string;
  readonly isForum: boolean;
  readonly members: Set<number>;
  readonly topics: Map<number, string>;
  /** The topics in which only administrators may write. */
  readonly closedTopics: Set<number>;
  readonly messages: Map<number, StoredMessage>;
  botStatus: "member" | "administrator" | "left" | "kicked";
  /** The supergroup that this basic group has become. */
  migratedTo?: number;
  /** True if the person of this private chat blocked the bot. */
  blocked: boolean;
  /** Time until "typing…" is shown, in milliseconds, by thread (0: none). */
  readonly typingUntil: Map<number, { readonly until: number; readonly action: string }>;
  draft?: Draft;
}

export interface StoredFile {
  readonly fileId: string;
  readonly uniqueId: string;
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Size that the Bot API reports. */
  readonly sizeBytes: number;
  readonly mimeType: string;
  /** For a smaller size of a photo: the photo, which has the same bytes here. */
  readonly copyOf?: string;
}

/** People, chats, messages and files, as Telegram's servers know them. Every change calls `onChange`. */
export class World {
  readonly clock: Clock;
  readonly bot: UserFromGetMe;
  readonly users = new Map<number, User>();
  readonly chats = new Map<number, ChatState>();
  readonly files = new Map<string, StoredFile>();
  /** Pictures behind web addresses. */
  webFiles: ReadonlyMap<string, Uint8Array> = new Map();
  readonly privateBox: MessageBox = { lastId: 0 };
  readonly supergroupBoxes = new Map<number, MessageBox>();
  onChange: () => void = () => undefined;
  #lastUserId = 100_000_000;
  #lastGroupId = 0;
  #lastFile = 0;

  constructor(clock: Clock, bot: UserFromGetMe) {
    this.clock = clock;
    this.bot = bot;
  }

  nowSeconds(): number {
    return Math.floor(this.clock.now() / 1000);
  }

  addUser(profile: Partial<User> = {}): User {
    this.#lastUserId += 1;
    while (this.users.has(this.#lastUserId)) this.#lastUserId += 1;
    const id = profile.id ?? this.#lastUserId;
    const user: User = {
      first_name: `Person ${this.users.size + 1}`,
      language_code: "en",
      ...profile,
      id,
      is_bot: false,
    };
    this.users.set(id, user);
    this.onChange();
    return user;
  }

  /** Returns the private chat with this person. Opening it makes it known to the bot. */
  privateChat(user: User): ChatState {
    this.users.set(user.id, user);
    return this.chats.get(user.id) ?? this.addChat({ id: user.id, type: "private", members: [user.id] });
  }

  addGroup(options: {
    readonly title: string;
    readonly type: "group" | "supergroup";
    readonly isForum: boolean;
    readonly members: readonly User[];
    readonly botIsAdministrator: boolean;
  }): ChatState {
    this.#lastGroupId += 1;
    const base = options.type === "group" ? -4_000_000_000 : -1_002_000_000_000;
    while (this.chats.has(base - this.#lastGroupId)) this.#lastGroupId += 1;
    for (const member of options.members) this.users.set(member.id, member);
    return this.addChat({
      id: base - this.#lastGroupId,
      type: options.type,
      title: options.title,
      isForum: options.isForum,
      members: options.members.map((member) => member.id),
      botStatus: options.botIsAdministrator ? "administrator" : "member",
    });
  }

  addChat(chat: {
    readonly id: number;
    readonly type: ChatState["type"];
    readonly title?: string;
    readonly isForum?: boolean;
    readonly members: readonly number[];
    readonly botStatus?: ChatState["botStatus"];
  }): ChatState {
    const state: ChatState = {
      id: chat.id,
      type: chat.type,
      ...(chat.title !== undefined && { title: chat.title }),
      isForum: chat.isForum ?? false,
      members: new Set(chat.members),
      topics: new Map(),
      closedTopics: new Set(),
      messages: new Map(),
      botStatus: chat.botStatus ?? "member",
      blocked: false,
      typingUntil: new Map(),
    };
    this.chats.set(state.id, state);
    // The message that created a supergroup has number 1. The same number names a forum's General topic.
    if (chat.type === "supergroup") this.supergroupBoxes.set(chat.id, { lastId: 1 });
    this.onChange();
    return state;
  }

  requireChat(id: number): ChatState {
    const chat = this.chats.get(id);
    if (chat === undefined) throw new Error(`The simulator has no chat ${id}.`);
    return chat;
  }

  requireUser(id: number): User {
    const user = id === this.bot.id ? this.bot : this.users.get(id);
    if (user === undefined) throw new Error(`The simulator has no user ${id}.`);
    return user;
  }

  requireMessage(chat: ChatState, id: number): StoredMessage {
    const message = chat.messages.get(id);
    if (message === undefined) throw new Error(`Chat ${chat.id} has no message ${id}.`);
    return message;
  }

  /** Stores a message under the next number of the chat's box. */
  addMessage(
    chat: ChatState,
    message: Pick<StoredMessage, "from"> & Partial<Omit<StoredMessage, "id" | "chatId" | "versions">>,
  ): StoredMessage {
    const box = this.boxOf(chat);
    box.lastId += 1;
    const at = this.clock.now();
    const text = message.text ?? "";
    const entities = message.entities ?? [];
    const stored: StoredMessage = {
      date: this.nowSeconds(),
      reactions: [],
      pinned: false,
      ...message,
      text,
      entities,
      id: box.lastId,
      chatId: chat.id,
      versions: [{ at, text, entities, ...(message.rich !== undefined && { rich: message.rich }) }],
    };
    chat.messages.set(stored.id, stored);
    if (message.from.id === this.bot.id) {
      chat.typingUntil.delete(stored.threadId ?? 0);
      if (chat.draft?.threadId === stored.threadId) delete chat.draft;
    }
    this.onChange();
    return stored;
  }

  boxOf(chat: ChatState): MessageBox {
    return this.supergroupBoxes.get(chat.id) ?? this.privateBox;
  }

  editMessage(message: StoredMessage, content: Content & { readonly media?: Media }, markup?: Markup): void {
    const { text, entities, rich, media } = content;
    const isSame =
      message.text === text &&
      JSON.stringify([message.entities, message.rich]) === JSON.stringify([entities, rich]);
    if (!isSame) {
      message.versions.push({ at: this.clock.now(), text, entities, ...(rich !== undefined && { rich }) });
    }
    message.text = text;
    message.entities = entities;
    if (media !== undefined) message.media = media;
    if (rich === undefined) delete message.rich;
    else message.rich = rich;
    if (markup === undefined) delete message.markup;
    else message.markup = markup;
    message.editDate = this.nowSeconds();
    this.onChange();
  }

  deleteMessage(chat: ChatState, id: number): void {
    chat.messages.delete(id);
    this.onChange();
  }

  react(message: StoredMessage, userId: number, reactions: readonly ReactionTypeEmoji[]): void {
    message.reactions = [
      ...message.reactions.filter((reaction) => reaction.userId !== userId),
      ...reactions.map(({ emoji }) => ({ userId, emoji })),
    ];
    this.onChange();
  }

  /**
   * Returns a file.
   * @throws {BotApiError} when the id is unknown
   */
  requireFile(fileId: string): StoredFile {
    const file = this.files.get(fileId);
    if (file === undefined) throw badRequest("wrong file_id or the file is temporarily unavailable");
    return file;
  }

  addFile(file: {
    readonly bytes: Uint8Array;
    readonly mimeType: string;
    readonly folder: string;
    readonly extension: string;
  }): StoredFile {
    this.#lastFile += 1;
    while (this.files.has(fileIdOf(this.#lastFile))) this.#lastFile += 1;
    const stored: StoredFile = {
      fileId: fileIdOf(this.#lastFile),
      uniqueId: `AQAD${String(this.#lastFile).padStart(8, "0")}`,
      path: `${file.folder}/file_${this.#lastFile}${file.extension}`,
      bytes: file.bytes,
      sizeBytes: file.bytes.length,
      mimeType: file.mimeType,
    };
    this.files.set(stored.fileId, stored);
    return stored;
  }

  /** Adds a smaller size of a photo. The same `name` always gives the same file. */
  addCopy(photo: StoredFile, name: string, sizeBytes: number): StoredFile {
    const copy: StoredFile = {
      ...photo,
      fileId: `${photo.fileId}${name}`,
      uniqueId: `${photo.uniqueId}${name}`,
      path: photo.path.replace(/(\.\w+)?$/, `${name}$1`),
      sizeBytes,
      copyOf: photo.fileId,
    };
    this.files.set(copy.fileId, copy);
    return copy;
  }

  /** Returns the status above the input field, such as "typing", while it lasts. */
  actionIn(chat: ChatState, threadId = 0): string | undefined {
    const action = chat.typingUntil.get(threadId);
    return action !== undefined && action.until > this.clock.now() ? action.action : undefined;
  }

  draftIn(chat: ChatState): Draft | undefined {
    return chat.draft !== undefined && chat.draft.until > this.clock.now() ? chat.draft : undefined;
  }
}

function fileIdOf(number: number): string {
  return `AgACAgIAAxkBAAIB${String(number).padStart(10, "0")}`;
}
