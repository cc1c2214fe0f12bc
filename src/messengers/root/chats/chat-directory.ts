import { z } from "zod";
import type {
  ChatEntry,
  ChatFacts,
  ChatFilter,
  ChatPage,
  ChatTopic,
  TopicFacts,
} from "../../../core/chat/chat.ts";
import type { Clock } from "../../../core/base/deps.ts";
import { InvalidInputError } from "../../../core/base/errors.ts";
import type { IncomingEvent } from "../../../core/chat/messenger.ts";
import type { NormalizedMessengerDefinition } from "../../declare/define-messengers.ts";
import type { ChatAliases } from "./chat-aliases.ts";
import type { ChatKey, ChatStore, StoredChat } from "./chat-store.ts";

export interface ChatDirectoryOptions {
  readonly clock: Clock;
  readonly store: ChatStore;
  readonly aliases: Pick<ChatAliases, "moveOf" | "formerChatId">;
}

/**
 * If nothing else about a chat has changed, `lastSeenAt` is written at most this often, because each written row has a
 * cost.
 */
const SEEN_EVERY_MS = 60 * 60_000;
/** Chats and topics kept in memory, so that most webhooks read no row. */
const MOST_CACHED = 2000;
const DEFAULT_LIMIT = 100;
const MOST_LISTED = 1000;
const MOST_TOPICS = 100;
const cursorSchema = z.tuple([z.string(), z.string()]);

interface KnownChat {
  readonly chat: StoredChat;
  /** Time of the last event of a person there. In memory only. */
  readonly heardAt: number;
}

/**
 * The directory of chats in which the bot was seen, at the root. Webhooks write it: a row when something about a chat
 * has changed, and otherwise one an hour.
 *
 * - A chat is gone when a conversation reports a refused call, or the platform says that the bot was blocked or
 *   removed.
 * - It is back with the next event of a person. A report about an earlier call then changes nothing.
 * - A chat that moves keeps its entry, under the new id.
 */
export class ChatDirectory {
  readonly #options: ChatDirectoryOptions;
  readonly #chats = new Map<string, KnownChat>();
  readonly #topics = new Map<string, ChatTopic>();

  constructor(options: ChatDirectoryOptions) {
    this.#options = options;
  }

  /** Notes what an event shows of its chat. */
  observe({ id: messengerId, platform }: NormalizedMessengerDefinition, incoming: IncomingEvent): void {
    const { aliases, clock } = this.#options;
    const { thread } = incoming;
    const move = aliases.moveOf(messengerId, thread);
    const key = { messengerId, chatId: move?.to.chatId ?? thread.chatId };
    const known = this.#known(key);
    const isOfFormerChat = move?.from.chatId === thread.chatId;
    if (isOfFormerChat && known !== undefined) return;
    const facts = platform.describeChat?.(incoming) ?? defaultFacts(incoming);
    const now = clock.now();
    const chat = merge(key, facts, known?.chat, now);
    const isNews = known === undefined || !isSame(chat, known.chat);
    if (isNews || isStale(known.chat, now)) this.#options.store.put({ ...chat, lastSeenAt: now });
    const lastSeenAt = isNews || isStale(known.chat, now) ? now : known.chat.lastSeenAt;
    const heardAt = facts.isReachable === true ? now : (known?.heardAt ?? -Infinity);
    remember(this.#chats, keyOf(key), { chat: { ...chat, lastSeenAt }, heardAt });
    if (facts.topic !== undefined) this.#observeTopic(key, facts.topic, now);
  }

  /**
   * Notes that a conversation's call was refused with this code at this time: the bot can no longer write to the chat.
   */
  gone(messengerId: string, chatId: string, code: string, at: number): void {
    const key = { messengerId, chatId };
    const known = this.#known(key);
    if (known === undefined || known.chat.goneSince !== undefined || known.heardAt > at) return;
    const chat = { ...known.chat, goneSince: at, goneCode: code };
    this.#options.store.put(chat);
    remember(this.#chats, keyOf(key), { ...known, chat });
  }

  moved(messengerId: string, fromId: string, toId: string): void {
    this.#options.store.rename(messengerId, fromId, toId);
    for (const chatId of [fromId, toId]) this.#chats.delete(keyOf({ messengerId, chatId }));
    this.#topics.clear();
  }

  count(): number {
    return this.#options.store.count();
  }

  /** @throws {InvalidInputError} `chat-filter-invalid` for a cursor or limit that cannot be used */
  list(filter: ChatFilter): ChatPage {
    const limit = limitOf(filter);
    const after = filter.cursor === undefined ? undefined : parseCursor(filter.cursor);
    const found = this.#options.store.page(filter, after, limit + 1);
    const chats = found.slice(0, limit);
    const last = found.length > limit ? chats.at(-1) : undefined;
    return {
      chats: chats.map((chat) => this.#entryOf(chat)),
      ...(last !== undefined && { cursor: JSON.stringify([last.messengerId, last.chatId]) }),
    };
  }

  find(key: ChatKey): StoredChat | undefined {
    return this.#known(key)?.chat;
  }

  /** Returns a function that finds a chat by the beginning of its id, the last seen one of several. */
  finder(messengerId: string): (beginning: string) => string | undefined {
    const { store } = this.#options;
    return (beginning) => store.beginningWith(messengerId, beginning)?.chatId;
  }

  /** Returns the private chat of a person. */
  ofPerson(messengerId: string, userId: string): StoredChat | undefined {
    return this.#options.store.ofPerson(messengerId, userId);
  }

  #observeTopic(key: ChatKey, { firstName, id, name }: TopicFacts, now: number): void {
    const cacheKey = `${keyOf(key)} ${id}`;
    const known = this.#topics.get(cacheKey) ?? this.#options.store.topic(key, id);
    const current = name ?? known?.name ?? firstName;
    if (known !== undefined && current === known.name && !isStale(known, now)) {
      remember(this.#topics, cacheKey, known);
      return;
    }
    const topic = { topicId: id, lastSeenAt: now, ...(current !== undefined && { name: current }) };
    this.#options.store.putTopic(key, topic);
    remember(this.#topics, cacheKey, topic);
  }

  #known(key: ChatKey): KnownChat | undefined {
    const cached = this.#chats.get(keyOf(key));
    if (cached !== undefined) return cached;
    const chat = this.#options.store.get(key);
    if (chat === undefined) return undefined;
    const known = { chat, heardAt: -Infinity };
    remember(this.#chats, keyOf(key), known);
    return known;
  }

  #entryOf(chat: StoredChat): ChatEntry {
    const { aliases, store } = this.#options;
    const { chatId, goneCode, goneSince, kind, language, lastSeenAt, messengerId, title, userId } = chat;
    const former = aliases.formerChatId(messengerId, chatId);
    return {
      messengerId,
      chatId,
      aliases: former === undefined ? [] : [former],
      kind,
      ...(title !== undefined && { title }),
      ...(language !== undefined && { language }),
      ...(userId !== undefined && { userId }),
      topics: store.topics(chat, MOST_TOPICS),
      lastSeenAt,
      ...(goneSince !== undefined && { goneSince }),
      ...(goneCode !== undefined && { goneCode }),
    };
  }
}

/** Returns the facts on a platform that tells nothing else: any event of a chat shows that somebody is there. */
function defaultFacts({ thread }: IncomingEvent): ChatFacts {
  const { isDirectMessage, title } = thread;
  return {
    kind: isDirectMessage ? "private" : "group",
    isReachable: true,
    ...(title !== undefined && { title }),
  };
}

/** Merges the facts of an event into an entry. Facts that the event does not tell stay as they were. */
function merge(key: ChatKey, facts: ChatFacts, known: StoredChat | undefined, now: number): StoredChat {
  const { goneCode = "left", isReachable, kind, language, title, userId } = facts;
  const wasGone = known?.goneSince !== undefined;
  const gone =
    isReachable === true
      ? { goneSince: undefined, goneCode: undefined }
      : isReachable === false && !wasGone
        ? { goneSince: now, goneCode }
        : { goneSince: known?.goneSince, goneCode: known?.goneCode };
  return {
    ...key,
    kind,
    title: title ?? known?.title,
    language: language ?? known?.language,
    userId: userId ?? known?.userId,
    lastSeenAt: known?.lastSeenAt ?? now,
    ...gone,
  };
}

function isSame(one: StoredChat, other: StoredChat): boolean {
  return (["kind", "title", "language", "userId", "goneSince"] as const).every(
    (field) => one[field] === other[field],
  );
}

function isStale({ lastSeenAt }: { readonly lastSeenAt: number }, now: number): boolean {
  return now - lastSeenAt >= SEEN_EVERY_MS;
}

/** Keeps the newest entries. */
function remember<T>(cache: Map<string, T>, key: string, value: T): void {
  cache.delete(key);
  cache.set(key, value);
  const [oldest] = cache.keys();
  if (cache.size > MOST_CACHED && oldest !== undefined) cache.delete(oldest);
}

function keyOf({ chatId, messengerId }: ChatKey): string {
  return JSON.stringify([messengerId, chatId]);
}

function limitOf({ limit = DEFAULT_LIMIT }: ChatFilter): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_LISTED) return limit;
  throw new InvalidInputError(
    "chat-filter-invalid",
    `limit of listChats() must be a whole number from 1 to ${MOST_LISTED}.`,
  );
}

function parseCursor(cursor: string): ChatKey {
  try {
    const [messengerId, chatId] = cursorSchema.parse(JSON.parse(cursor));
    return { messengerId, chatId };
  } catch {
    throw new InvalidInputError(
      "chat-filter-invalid",
      "cursor of listChats() must be the cursor of the page before.",
    );
  }
}
