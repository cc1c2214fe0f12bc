/** Spaces of Google Chat in memory, with their messages, and the objects of the Chat API that show them. */
import type { Person, Place, SentFile } from "../platform-emulator.ts";

export interface Space {
  /** `spaces/…` */
  readonly name: Place;
  readonly displayName: string;
  readonly isDirect: boolean;
  hasBot: boolean;
  /** Whether nobody has mentioned the app there. */
  isNew: boolean;
}

export interface User {
  /** `users/…` */
  readonly name: string;
  readonly displayName: string;
  readonly isBot: boolean;
}

export interface Message {
  /** `spaces/…/messages/…` */
  readonly name: string;
  readonly space: Space;
  readonly thread: string;
  readonly by: User;
  readonly createdAt: number;
  readonly files: readonly SentFile[];
  readonly viewer: string | undefined;
  readonly requestId: string | undefined;
  readonly clientId: string | undefined;
  text: string;
  /** Whether the text is Markdown. If not, it is in the syntax of Google Chat. */
  isMarkdown: boolean;
  cards: readonly CardWithId[];
  updatedAt: number | undefined;
  isDeleted: boolean;
}

/** The part of a card that people see. The API takes more. */
export interface CardWithId {
  readonly cardId?: string;
  readonly card?: {
    readonly header?: { readonly title?: string; readonly subtitle?: string };
    readonly sections?: readonly { readonly header?: string; readonly widgets?: readonly Widget[] }[];
  };
}

export interface Widget {
  readonly textParagraph?: { readonly text?: string };
  readonly decoratedText?: {
    readonly topLabel?: string;
    readonly text?: string;
    readonly bottomLabel?: string;
  };
  readonly buttonList?: { readonly buttons?: readonly Button[] };
}

export interface Button {
  readonly text?: string;
  readonly disabled?: boolean;
  readonly onClick?: {
    readonly action?: {
      readonly function?: string;
      readonly parameters?: readonly { readonly key: string; readonly value: string }[];
    };
  };
}

export class Spaces {
  readonly bot: User = { name: "users/100000000000000000001", displayName: "Shop Bot", isBot: true };
  readonly messages: Message[] = [];
  readonly now: () => number;
  readonly #spaces: Space[] = [];
  readonly #people = new Map<string, User>();
  changed: () => void = () => {};
  #lastId = 0;

  constructor(now: () => number) {
    this.now = now;
  }

  spaceNamed(displayName: string, isDirect: boolean): Space {
    const known = this.#spaces.find((it) => it.displayName === displayName && it.isDirect === isDirect);
    if (known !== undefined) return known;
    const space = { name: `spaces/AAAA${this.#nextId()}`, displayName, isDirect, hasBot: true, isNew: true };
    this.#spaces.push(space);
    return space;
  }

  findSpace(name: string): Space | undefined {
    return this.#spaces.find((space) => space.name === name);
  }

  user({ id, name }: Person): User {
    const user = this.#people.get(id) ?? { name: `users/${id}`, displayName: name, isBot: false };
    this.#people.set(id, user);
    return user;
  }

  isPerson(name: string): boolean {
    return [...this.#people.values()].some((user) => user.name === name);
  }

  find(name: string | undefined): Message | undefined {
    return this.messages.find(
      (it) => !it.isDeleted && (it.name === name || `${it.space.name}/messages/${it.clientId}` === name),
    );
  }

  /** The first message of a thread has its id twice. */
  add(
    fields: Pick<Message, "space" | "by" | "text"> &
      Partial<Pick<Message, "cards" | "files" | "isMarkdown" | "viewer" | "requestId" | "clientId">>,
    thread: string | undefined,
  ): Message {
    const id = `m${this.#nextId()}`;
    const { space } = fields;
    const threadId = thread?.split("/").at(-1) ?? id;
    const message: Message = {
      cards: [],
      isMarkdown: false,
      files: [],
      viewer: undefined,
      requestId: undefined,
      clientId: undefined,
      ...fields,
      name: `${space.name}/messages/${threadId}.${id}`,
      thread: `${space.name}/threads/${threadId}`,
      createdAt: this.now(),
      updatedAt: undefined,
      isDeleted: false,
    };
    this.messages.push(message);
    this.changed();
    return message;
  }

  rootOf({ thread }: Message): Message | undefined {
    return this.messages.find((it) => it.thread === thread);
  }

  #nextId(): string {
    this.#lastId += 1;
    return this.#lastId.toString(36).padStart(6, "0");
  }
}

export function spaceJson(space: Space): Record<string, unknown> {
  return {
    name: space.name,
    type: space.isDirect ? "DM" : "ROOM",
    spaceType: space.isDirect ? "DIRECT_MESSAGE" : "SPACE",
    spaceThreadingState: "THREADED_MESSAGES",
    spaceHistoryState: "HISTORY_ON",
    ...(space.isDirect ? { singleUserBotDm: true } : { displayName: space.displayName }),
    spaceUri: `https://chat.google.com/room/${space.name}`,
  };
}

export function userJson({ displayName, isBot, name }: User): Record<string, unknown> {
  return {
    name,
    displayName,
    type: isBot ? "BOT" : "HUMAN",
    ...(!isBot && { email: `${name.replace("users/", "u")}@example.org`, domainId: "2abc" }),
  };
}

export function messageJson(message: Message): Record<string, unknown> {
  const { cards, clientId, files, name, space, text, thread, updatedAt, viewer } = message;
  return {
    name,
    sender: userJson(message.by),
    createTime: new Date(message.createdAt).toISOString(),
    ...(updatedAt !== undefined && { lastUpdateTime: new Date(updatedAt).toISOString() }),
    ...(text !== "" && { text, formattedText: text, argumentText: text }),
    ...(cards.length > 0 && { cardsV2: cards }),
    ...(viewer !== undefined && { privateMessageViewer: { name: viewer } }),
    ...(clientId !== undefined && { clientAssignedMessageId: clientId }),
    ...(files.length > 0 && { attachment: files.map((file, index) => attachmentJson(message, file, index)) }),
    thread: { name: thread, retentionSettings: { state: "PERMANENT" } },
    ...(!name.endsWith(`/${thread.split("/").at(-1)}.${thread.split("/").at(-1)}`) && { threadReply: true }),
    space: spaceJson(space),
  };
}

/** As events show it: without what the app can ask for. */
export function eventMessageJson(message: Message): Record<string, unknown> {
  const { formattedText: _, cardsV2: __, ...json } = messageJson(message);
  return { ...json, thread: { name: message.thread } };
}

/** `downloadUri` is for people alone, as its description says. */
function attachmentJson({ name }: Message, file: SentFile, index: number): Record<string, unknown> {
  return {
    name: `${name}/attachments/${index}`,
    contentName: file.name,
    contentType: file.mediaType,
    attachmentDataRef: { resourceName: resourceNameOf(name, index) },
    thumbnailUri: "https://chat.google.com/api/get_attachment_url?url_type=FIFE_URL",
    downloadUri: "https://chat.google.com/api/get_attachment_url?url_type=DOWNLOAD_URL",
    source: "UPLOADED_CONTENT",
  };
}

/** The content of an attachment, for `media.download`. */
export function resourceNameOf(messageName: string, index: number): string {
  return Buffer.from(`${messageName} ${index}`).toString("base64");
}
