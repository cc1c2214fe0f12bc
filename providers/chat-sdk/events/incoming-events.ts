import { type Adapter, type Author, type ChatInstance, defaultEmojiResolver, type Message } from "chat";
import { parseCardToken } from "../../../src/core/chat/card-token.ts";
import { isRecord } from "../../../src/core/json/is-record.ts";
import type { Clock } from "../../../src/core/base/deps.ts";
import type { IncomingEvent } from "../../../src/core/chat/messenger.ts";
import type { MessengerThread } from "../../../src/core/chat/messenger-event.ts";
import { profileOf } from "../adapters/known-adapters.ts";
import { contentKey, interactionKey } from "./event-key.ts";
import {
  type StoredEvent,
  type StoredMessage,
  storeAuthor,
  storeMessage,
  textOf,
  toJson,
} from "./stored-event.ts";
import { type MentioningText, textToBot, usualMentions } from "./text-to-bot.ts";

type Action = Parameters<ChatInstance["processAction"]>[0];
type SlashCommand = Parameters<ChatInstance["processSlashCommand"]>[0];
type Reaction = Parameters<ChatInstance["processReaction"]>[0];

/** The fields of an event that only the bot's own code handles. Each kind has some of them. */
export interface SdkUpdate {
  readonly threadId?: string;
  readonly channelId?: string;
  readonly user?: Author;
  readonly raw?: unknown;
}

/** An event for the inbox, or the name of an event that starts nothing. */
export type Incoming = IncomingEvent | { readonly ignored: string; readonly threadId: string | undefined };

/** Turns each event that an adapter reports into an event for the inbox. */
export interface IncomingEvents {
  /** A message reported as new. If it is marked as edited, the inbox decides whether it is new. */
  ofMessage(threadId: string, message: Message): Promise<Incoming>;
  /** A message reported as edited. */
  ofEdit(threadId: string, message: Message): Promise<Incoming>;
  ofDeletion(threadId: string, messageId: string, raw: unknown): Promise<Incoming>;
  ofAction(action: Action): Promise<Incoming>;
  ofCommand(
    command: Pick<SlashCommand, "channelId" | "command" | "raw" | "text" | "triggerId" | "user">,
  ): Promise<Incoming>;
  ofReaction(reaction: Reaction): Promise<Incoming>;
  /** An event that only the bot's own code handles. */
  ofUpdate(kind: string, update: SdkUpdate): Promise<Incoming>;
}

/** @param firstId returns the id by which the bot knows a thread, from the adapter's id and the platform's object */
export function createIncomingEvents(
  adapter: Adapter,
  userName: string,
  clock: Clock,
  firstId: (threadId: string, raw: unknown) => Promise<string> = async (threadId) => threadId,
): IncomingEvents {
  const incoming = (key: string, threadId: string, stored: StoredEvent): IncomingEvent => ({
    key,
    thread: threadOf(adapter, threadId),
    raw: stored,
  });
  const store = (message: Message) =>
    storeMessage(message, addressingOf(message, adapter, userName), clock.now());

  const edit = async (threadId: string, message: Message): Promise<IncomingEvent> => {
    const stored = store(message);
    const raw = toJson(message.raw);
    const id = await messageKey(message, raw);
    // Some platforms do not tell the time of an edit, or only its second. The new text tells two edits apart.
    const edition = `${stored.editedAt ?? ""}:${await contentKey(stored.text)}`;
    return incoming(`e:${channelOf(adapter, threadId)}:${id}:${edition}`, threadId, {
      type: "edited",
      message: stored,
      raw,
    });
  };
  const { isElsewhere } = profileOf(adapter.name);
  const elsewhere = { ignored: "unknown place", threadId: undefined };
  return {
    async ofEdit(toldThreadId, message) {
      if (message.author?.isMe) return { ignored: "own message", threadId: toldThreadId };
      return edit(await firstId(toldThreadId, message.raw), message);
    },
    async ofMessage(toldThreadId, message) {
      if (message.author?.isMe) return { ignored: "own message", threadId: toldThreadId };
      if (isElsewhere?.(message.raw) === true) return elsewhere;
      const threadId = await firstId(toldThreadId, message.raw);
      const raw = toJson(message.raw);
      const key = `m:${channelOf(adapter, threadId)}:${await messageKey(message, raw)}`;
      const asNew = incoming(key, threadId, { type: "message", message: store(message), raw });
      // Some adapters report an edit as a new message, and some mark a new message as edited.
      if (!message.metadata?.edited) return asNew;
      return { ...(await edit(threadId, message)), ifUnseen: { key: asNew.key, raw: asNew.raw } };
    },
    async ofDeletion(toldThreadId, messageId, raw) {
      const threadId = await firstId(toldThreadId, raw);
      return incoming(`d:${channelOf(adapter, threadId)}:${messageId}`, threadId, {
        type: "deleted",
        messageId,
        raw: toJson(raw),
      });
    },
    async ofAction({ actionId, value, messageId, threadId: toldThreadId, triggerId, user, raw }) {
      if (user?.isMe) return { ignored: "own press", threadId: toldThreadId };
      if (isElsewhere?.(raw) === true) return elsewhere;
      // A press outside a chat, as in Slack's home tab, has no place for an answer.
      if (!toldThreadId) return { ignored: "press outside of a chat", threadId: undefined };
      const stored = toJson(raw);
      const facts = profileOf(adapter.name).readPress?.({ threadId: toldThreadId, raw: stored });
      const { token } = facts ?? {};
      const threadId = await firstId(facts?.threadId ?? toldThreadId, raw);
      const id = (await interactionKey(triggerId, stored)) ?? String(clock.now());
      // Some adapters report a value for a button that has none, such as its label.
      const isCardPress = parseCardToken(actionId) !== undefined;
      const hasValue = !isCardPress && value !== undefined && value !== actionId;
      const data = hasValue ? `${actionId}:${value}` : actionId;
      // One request can report several presses, one for each input of a form.
      const event = incoming(`a:${threadId}:${id}:${await contentKey(data)}`, threadId, {
        type: "action",
        id,
        data,
        messageId,
        token,
        user: storeAuthor(user),
        raw: withoutToken(stored),
      });
      return isCardPress ? { ...event, isCardPress } : event;
    },
    async ofCommand({ channelId: toldChannelId, command, text, triggerId, user, raw }) {
      if (user?.isMe) return { ignored: "own command", threadId: toldChannelId };
      if (!toldChannelId) return { ignored: "command outside of a chat", threadId: undefined };
      const channelId = await firstId(toldChannelId, raw);
      const stored = toJson(raw);
      const id = (await interactionKey(triggerId, stored)) ?? String(clock.now());
      const placeholder = profileOf(adapter.name).placeholderOf?.(stored, clock.now());
      const event = incoming(`s:${channelId}:${id}`, channelId, {
        type: "command",
        command,
        text: text ?? "",
        messageId: placeholder?.messageId ?? messageIdOf(adapter, raw),
        sentAt: clock.now(),
        user: storeAuthor(user),
        raw: withoutToken(stored),
      });
      return placeholder === undefined ? event : { ...event, placeholder };
    },
    async ofReaction({ added, emoji, messageId, rawEmoji, threadId: toldThreadId, user, raw }) {
      if (user?.isMe) return { ignored: "own reaction", threadId: toldThreadId };
      if (isElsewhere?.(raw) === true) return elsewhere;
      const threadId = await firstId(toldThreadId, raw);
      const stored = toJson(raw);
      const name = emojiName(emoji?.name ?? "", rawEmoji);
      const id = await changeKey(stored, clock.now());
      const key = `r:${threadId}:${messageId}:${id}:${await contentKey(`${added} ${name ?? ""}`)}`;
      const event = incoming(key, threadId, {
        type: "reaction",
        messageId,
        emoji: name,
        added,
        user: storeAuthor(user),
        raw: stored,
      });
      return { ...event, isOfChat: true };
    },
    async ofUpdate(kind, update) {
      const { channelId, raw, threadId, user } = update;
      const told = toJson(raw);
      const stored = toJson({ ...update, adapter: undefined, raw: withoutToken(told) });
      const id = await changeKey(told, clock.now());
      // Some are of no chat. They belong to the bot itself.
      const place = await firstId(threadId || channelId || `${adapter.name}:updates`, raw);
      const event = incoming(`u:${kind}:${id}`, place, {
        type: "update",
        kind,
        ...(user && { user: storeAuthor(user) }),
        raw: stored,
      });
      return { ...event, isOfChat: true };
    },
  };
}

/**
 * Removes the platform's permissions to answer, and the app's own token, from its object, which bot code and tests may
 * write down.
 */
function withoutToken(raw: unknown): unknown {
  if (!isRecord(raw)) return raw;
  const { response_url: _url, response_urls: _urls, token: _token, ...rest } = raw;
  return rest;
}

/** Returns an emoji, or `custom:` and the platform's name of one that is no character. */
function emojiName(name: string, rawEmoji: string): string | undefined {
  if (name === "") return undefined;
  const found = defaultEmojiResolver.toGChat(name);
  return /^[\x20-\x7e]+$/.test(found) ? `custom:${rawEmoji}` : found;
}

/**
 * Returns the identity of a change that can be made again and again, such as a reaction. Platforms that deliver an event
 * again give it an id or a time.
 */
async function changeKey(raw: unknown, now: number): Promise<string> {
  const hasIdentity =
    isRecord(raw) && ["id", "event_ts", "eventTime", "timestamp", "trigger_id"].some((name) => raw[name]);
  return hasIdentity ? contentKey(JSON.stringify(raw)) : String(now);
}

/** Returns the id of a message. Without an id, a hash of its content tells it apart from others. */
async function messageKey({ id, text }: Message, raw: unknown): Promise<string> {
  return textOf(id) || contentKey(JSON.stringify([text, raw]));
}

/** Returns the thread with this id. */
export function threadOf(adapter: Adapter, threadId: string): MessengerThread {
  const chatId = profileOf(adapter.name).chatIdOf?.(threadId) ?? channelOf(adapter, threadId);
  return {
    id: threadId,
    chatId,
    ...(threadId === chatId ? {} : { topicId: threadId }),
    isDirectMessage: isDirectMessage(adapter, threadId),
  };
}

/**
 * Returns the adapter's channel of a thread, which is part of the keys of events. If the adapter cannot tell, it is
 * derived as the SDK does.
 */
function channelOf(adapter: Adapter, threadId: string): string {
  try {
    return adapter.channelIdFromThreadId(threadId);
  } catch {
    // An id that the adapter cannot read, or an adapter for an older SDK.
    return threadId.split(":").slice(0, 2).join(":");
  }
}

function isDirectMessage(adapter: Adapter, threadId: string): boolean {
  try {
    return adapter.isDM?.(threadId) ?? false;
  } catch {
    // An id that the adapter cannot read.
    return false;
  }
}

/** Tells whether a message is for the bot, and what it says to the bot. */
function addressingOf(
  message: Message,
  adapter: Adapter,
  userName: string,
): Pick<StoredMessage, "isMention" | "isSlashCommand" | "textToBot"> {
  const said = mentioningText(message, adapter, userName);
  return {
    isMention: isMentioned(message, adapter, userName),
    isSlashCommand: said.isSlashCommand,
    textToBot: textToBot(said),
  };
}

function mentioningText(message: Message, adapter: Adapter, userName: string): MentioningText {
  const text = textOf(message.text) ?? "";
  const { botUserId } = adapter;
  const { mentioningText: find, otherMentions } = profileOf(adapter.name);
  const own = find?.({ text, raw: message.raw }, botUserId);
  if (own !== undefined) return own;
  const usual = usualMentions(adapter.userName || userName, botUserId);
  return { text, mentions: [...usual, ...(otherMentions?.(adapter) ?? [])] };
}

/**
 * True if the bot is mentioned. If the adapter does not tell, the bot's name is searched in the text, as the SDK does.
 */
function isMentioned(message: Message, adapter: Adapter, userName: string): boolean {
  if (typeof message.isMention === "boolean") return message.isMention;
  const names = [adapter.userName || userName, adapter.botUserId].filter((name) => Boolean(name));
  return names.some((name) => {
    const escaped = String(name).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return new RegExp(`(?<!\\w)@${escaped}(?![\\w-])|<@!?${escaped}>`, "i").test(message.text ?? "");
  });
}

/** Returns the message id of a command. A typed command has one; a command picked from a menu does not. */
function messageIdOf(adapter: Adapter, raw: unknown): string {
  try {
    const message: Partial<Message> | undefined = adapter.parseMessage(raw);
    return typeof message?.id === "string" ? message.id : "";
  } catch {
    // The object of a command that is not a message.
    return "";
  }
}
