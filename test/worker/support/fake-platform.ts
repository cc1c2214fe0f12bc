import type { ChatFacts } from "../../../src/core/chat/chat.ts";
import type { ChatMove, ChatPlace } from "../../../src/core/chat/chat-move.ts";
import { sha256Now } from "../../../src/core/bytes/sha256.ts";
import { InvalidInputError } from "../../../src/core/base/errors.ts";
import type { FetchedFile, IncomingEvent, MessengerPlatform } from "../../../src/core/chat/messenger.ts";
import type {
  MessengerAttachment,
  MessengerEvent,
  MessengerEventKind,
  MessengerThread,
} from "../../../src/core/chat/messenger-event.ts";
import type {
  Address,
  OutgoingButton,
  OutgoingContent,
  OutgoingMessage,
  Surface,
} from "../../../src/core/chat/surface.ts";

/** An update of a platform that exists for tests only. The body of its webhook is one of them, or a list. */
export interface FakeUpdate {
  readonly kind?: "message" | "edit" | "delete" | "press" | "member" | "poll" | "moved" | "reopened";
  readonly id: string;
  readonly chat: string;
  readonly user: string;
  readonly text?: string;
  /** Of a `moved`: the chat that this one has become, or was. */
  readonly movedTo?: string;
  readonly movedFrom?: string;
  readonly isGroup?: boolean;
  /** Whether it is written in the name of the chat, as anonymous administrators do. */
  readonly isAnonymous?: boolean;
  /** The topic of the group. */
  readonly topic?: string;
  readonly topicName?: string;
  readonly title?: string;
  readonly language?: string;
  /** Of a `member`: the bot was blocked or removed. */
  readonly leaves?: boolean;
  /** Whether it addresses the bot. A text may begin with the bot's name, `@bot`. */
  readonly mentions?: boolean;
  /** Id of a message of the bot that this one quotes. */
  readonly quotes?: string;
  /** Epoch milliseconds. */
  readonly sentAt?: number;
  readonly albumId?: string;
  /** A picture whose bytes never come. */
  readonly hasHangingPicture?: boolean;
  /** Files, whose bytes are in `FakeChats.files` by their id. */
  readonly files?: readonly FakeFile[];
}

export interface FakeFile extends Pick<MessengerAttachment, "kind" | "mediaType" | "name" | "sizeBytes"> {
  readonly id: string;
}

export interface FakeMessage {
  readonly id: string;
  readonly texts: string[];
  readonly replyTo: string | undefined;
  /** The files that it has, as `kind name`, or with an address. */
  readonly files: readonly string[];
  /** The buttons that it has now. */
  buttons: readonly OutgoingButton[];
}

export const SECRET_HEADER = "x-fake-secret";
export const SECRET = "fake-secret";

/** The mark of a post that may be there twice. */
const SENT_AGAIN = "(sent again after a connection problem)\n";

/** What the people of the platform see. */
export class FakeChats {
  readonly #chats = new Map<string, FakeMessage[]>();
  readonly answered: string[] = [];
  /** What people were told privately after a press, by the id of the press. */
  readonly notices = new Map<string, string>();
  /** What the bot did to messages, in order. */
  readonly marks: string[] = [];
  /** When the typing indicator was shown, in epoch milliseconds. */
  readonly typed: number[] = [];
  /** Chats that take nothing any more, and those that they have become. */
  readonly moved = new Map<string, string>();
  /** The platform's bytes of each file, or what becomes of a download. */
  /** How the platform got each file that was sent. */
  readonly sources: string[] = [];
  readonly files = new Map<string, Uint8Array | (() => Promise<FetchedFile>)>();
  /** Called before each post is made. */
  beforePost: (chat: string, message: OutgoingMessage) => Promise<void> = () => Promise.resolve();
  /** Called when a message has been posted or edited, before the bot has the answer. */
  beforeAnswer: (chat: string, content: OutgoingContent) => Promise<void> = () => Promise.resolve();
  /** Chats that take nothing any more, and closed topics, as `chat/topic`. */
  readonly gone = new Set<string>();
  goneCode = "bot-blocked";
  opensWindows = false;
  /** Number of calls to such chats and topics. */
  refused = 0;
  /** The members of chats, as far as the platform tells. A function stands for a call that fails or hangs. */
  readonly members = new Map<string, readonly string[] | (() => Promise<never>)>();
  #lastId = 0;

  /** The newest text of each message, in order. */
  visible(chat: string): string[] {
    return this.messages(chat).map(({ texts }) => texts.at(-1) ?? "");
  }

  /** The newest text of each answer. One that was posted again, because its first post may be lost, counts once. */
  answers(chat: string): string[] {
    const visible = this.visible(chat);
    return visible
      .filter((text) => !text.startsWith(SENT_AGAIN) || !visible.includes(text.slice(SENT_AGAIN.length)))
      .map((text) => text.replace(SENT_AGAIN, ""));
  }

  messages(chat: string): readonly FakeMessage[] {
    return this.#chats.get(chat) ?? [];
  }

  /** The token of the newest button of a chat with this label. */
  button(chat: string, label: string): string | undefined {
    const found = this.messages(chat)
      .flatMap(({ buttons }) => buttons)
      .findLast((button) => button.label === label);
    return found?.kind === "callback" ? found.token : undefined;
  }

  post(chat: string, { buttons = [], files = [], location, replyTo, text }: OutgoingMessage): string {
    this.#lastId += 1;
    const message = {
      id: `b${this.#lastId}`,
      texts: [location === undefined ? text : `at ${location.latitude}, ${location.longitude}`],
      replyTo,
      files: files.map(({ kind, name }) => `${kind} ${name}`),
      buttons: buttons.flat(),
    };
    this.#chats.set(chat, [...this.messages(chat), message]);
    return message.id;
  }

  edit(chat: string, messageId: string, { buttons = [], text }: OutgoingContent): void {
    const message = this.messages(chat).find(({ id }) => id === messageId);
    message?.texts.push(text);
    if (message !== undefined) message.buttons = buttons.flat();
  }

  remove(chat: string, messageId: string): void {
    this.#chats.set(
      chat,
      this.messages(chat).filter(({ id }) => id !== messageId),
    );
  }
}

/** A call to a chat that goes on under another id. */
class MovedError extends Error {
  readonly to: string;

  constructor(to: string) {
    super("moved");
    this.to = to;
  }
}

/** A call to a chat that takes nothing any more, or to a closed topic. */
class GoneError extends Error {
  readonly isTopic: boolean;

  constructor(isTopic: boolean) {
    super("gone");
    this.isTopic = isTopic;
  }
}

const placeOf = (chat: string): ChatPlace => ({ chatId: chat, threadId: `fake:${chat}` });

/** A rate begins with two calls, and interim edits leave a fifth of it free. So it fills within moments. */
const RATE = { burst: 10_000, everyMs: 0.01 };

const request = globalThis.fetch;
/** Every call begins with a request, because workerd lets none leave an object before the object's writes are stored. */
const leave = async (): Promise<void> => void (await request("data:,"));

export function fakePlatform(
  chats: FakeChats,
  { buttons = true, files = false, typing = false } = {},
): MessengerPlatform {
  /** Messages of a topic are shown apart, as `chat/topic`. */
  const open = async ({ chatId, topicId }: Address): Promise<string> => {
    await leave();
    const to = chats.moved.get(chatId);
    if (to !== undefined) throw new MovedError(to);
    const place = topicId === undefined ? chatId : `${chatId}/${topicId}`;
    for (const gone of [chatId, place]) {
      if (!chats.gone.has(gone)) continue;
      chats.refused += 1;
      throw new GoneError(gone !== chatId);
    }
    return place;
  };
  const surface: Surface = {
    provider: "fake",
    capabilities: {
      edit: true,
      remove: true,
      typing,
      buttons,
      ...(files && {
        location: true,
        files: { maxBytes: () => 1_000_000, maxAlbumSize: 10, callTimeoutMs: 500 },
      }),
    },
    format: "telegram-entities",
    limits: { maxLength: 4096, maxEntities: 100 },
    pacing: { direct: RATE, group: RATE, global: RATE },
    typingLastsMs: 5000,
    post: async (address, message) => {
      const chat = await open(address);
      await chats.beforePost(chat, message);
      const messageId = chats.post(chat, message);
      await chats.beforeAnswer(chat, message);
      const { files: sent = [] } = message;
      chats.sources.push(...sent.map(({ source }) => source.kind));
      const fileIds = sent.map(({ source }) =>
        source.kind === "bytes" ? `file:${source.hash}` : "file:known",
      );
      return sent.length < 2
        ? { messageId, fileIds }
        : { messageId, fileIds, messageIds: sent.map((_file, index) => `${messageId}.${index}`) };
    },
    edit: async (address, messageId, content) => {
      const chat = await open(address);
      chats.edit(chat, messageId, content);
      await chats.beforeAnswer(chat, content);
    },
    remove: async (address, messageId) => chats.remove(await open(address), messageId),
    typing: async () => {
      await leave();
      chats.typed.push(Date.now());
    },
    react: async (address, messageId, emoji) =>
      void chats.marks.push(`${await open(address)}: ${messageId} ${emoji ?? "none"}`),
    pin: async (address, messageId, { isPinned }) =>
      void chats.marks.push(
        `${await open(address)}: ${isPinned ? "pin" : "unpin"} ${messageId ?? "the newest"}`,
      ),
    answerAction: async (_address, { id }, notice) => {
      await leave();
      chats.answered.push(id);
      if (notice !== undefined) chats.notices.set(id, notice.text);
    },
    classifyError: (error) =>
      error instanceof MovedError
        ? { kind: "moved", code: "chat-upgraded", to: placeOf(error.to) }
        : error instanceof GoneError
          ? { kind: "gone", code: chats.goneCode, ...(error.isTopic && { scope: "thread" as const }) }
          : { kind: "unknown", code: "fake" },
  };
  return {
    provider: "fake",
    get opensWindows() {
      return chats.opensWindows;
    },
    chatThreadId: (chatId: string) => `fake:${chatId}`,
    topicThreadId: (chatId: string, topicId: string) => `fake:${chatId}:${topicId}`,
    describeChat,
    verification: {
      kind: "header",
      verify: (headers) => Promise.resolve(headers.get(SECRET_HEADER) === SECRET),
    },
    async receive(request, _context, root) {
      const body = (await request.json()) as FakeUpdate | readonly FakeUpdate[];
      const updates = Array.isArray(body) ? (body as readonly FakeUpdate[]) : [body as FakeUpdate];
      const isHandled = ({ kind }: FakeUpdate): boolean => kind !== "poll";
      for (const { kind } of updates.filter((update) => !isHandled(update))) root.ignore(String(kind));
      const events = updates.filter(isHandled).map(incomingOf);
      if (events.length > 0) await root.accept(events);
      return Response.json({ ok: true });
    },
    parse: (incoming, { messengerId }) => Promise.resolve(eventOf(incoming, messengerId)),
    surface: () => surface,
    isMember: async (chatId, userId) => {
      const members = chats.members.get(chatId);
      return typeof members === "function" ? members() : members?.includes(userId);
    },
    fetchIdentity: () => Promise.resolve({ userId: "bot", userName: "fake_bot" }),
    async fetchAttachment({ fileId }, _context, { maxBytes }) {
      const file = chats.files.get(String(fileId));
      if (file === undefined) return new Promise(() => {});
      if (!(file instanceof Uint8Array)) return file();
      if (file.length > maxBytes) throw new InvalidInputError("attachment-too-large", "too large");
      return { bytes: file };
    },
  };
}

function describeChat({ raw, thread }: IncomingEvent): ChatFacts {
  const { isGroup = false, kind, language, leaves = false, title, topicName, user } = raw as FakeUpdate;
  const topic =
    thread.topicId === undefined
      ? undefined
      : { id: thread.topicId, ...(topicName !== undefined && { name: topicName }) };
  return {
    kind: isGroup ? "supergroup" : "private",
    title: title ?? thread.chatId,
    ...(language !== undefined && { language }),
    ...(!isGroup && { userId: user }),
    ...(topic !== undefined && { topic }),
    ...(kind !== "moved" && { isReachable: !leaves }),
  };
}

function incomingOf(update: FakeUpdate): IncomingEvent {
  const { chat, id, isGroup = false, kind = "message", topic } = update;
  const thread: MessengerThread = {
    id: topic === undefined ? `fake:${chat}` : `fake:${chat}:${topic}`,
    chatId: chat,
    ...(topic !== undefined && { topicId: topic }),
    isDirectMessage: !isGroup,
    title: chat,
  };
  const edition = kind === "edit" ? `:${sha256Now(update.text ?? "")}` : "";
  const { movedFrom, movedTo } = update;
  const move: ChatMove | undefined =
    movedTo !== undefined
      ? { from: placeOf(chat), to: placeOf(movedTo) }
      : movedFrom !== undefined
        ? { from: placeOf(movedFrom), to: placeOf(chat) }
        : undefined;
  return { key: `${kind}:${chat}:${id}${edition}`, thread, raw: update, ...(move !== undefined && { move }) };
}

function eventOf(incoming: IncomingEvent, messengerId: string): MessengerEvent {
  const update = incoming.raw as FakeUpdate;
  const { chat, id, isAnonymous, language, text = "", user } = update;
  const command = /^\/(\w+)\s*(.*)$/s.exec(text);
  const base = {
    key: incoming.key,
    kind: kindOf(update),
    messengerId,
    provider: "fake",
    chatThreadId: (chatId: string) => `fake:${chatId}`,
    thread: incoming.thread,
    author:
      isAnonymous === true
        ? { userId: chat, fullName: chat, isChat: true }
        : { userId: user, fullName: user, ...(language !== undefined && { language }) },
    capabilities: {
      canEditMessages: true,
      canStream: true,
      maxMessageLength: 4096,
      supportsActions: true,
      supportsAttachments: false,
    },
    raw: update,
  };
  if (update.kind === "press") return { ...base, action: { id, data: text } };
  if (update.kind === "reopened") return { ...base, detail: "topic reopened" };
  return {
    ...base,
    message: {
      id,
      text,
      sentAt: update.sentAt ?? Date.now(),
      isMention: update.mentions ?? false,
      ...(text.startsWith("@bot ") && { textToBot: text.slice("@bot ".length) }),
      attachments:
        update.hasHangingPicture === true
          ? [{ kind: "image", mediaType: "image/png", reference: { fileId: id } }]
          : (update.files ?? []).map(({ id: fileId, ...file }) => ({ ...file, reference: { fileId } })),
      ...(command?.[1] !== undefined && { command: { name: command[1], args: command[2] ?? "" } }),
      ...(update.quotes !== undefined && {
        quoted: { id: update.quotes, text: "a message of the bot", isFromBot: true, attachments: [] },
      }),
      ...(update.albumId !== undefined && { albumId: update.albumId }),
    },
  };
}

function kindOf(update: FakeUpdate): MessengerEventKind {
  switch (update.kind) {
    case "edit":
      return "message-edited";
    case "delete":
      return "message-deleted";
    case "press":
      return "action";
    case "member":
      return "membership";
    case "moved":
    case "reopened":
      return "service";
    default:
      if (update.isGroup !== true) return "direct-message";
      return update.mentions === true ? "mention" : "message";
  }
}
