import type { Author, Message } from "chat";
import { z } from "zod";
import { isDeeperThan } from "../../../src/core/json/json-depth.ts";

/**
 * A Chat SDK event as the inbox stores it: the fields that are parsed later, and the platform's own object.
 *
 * The rendered tree of a message is left out. It is many times larger than the text, and no code reads it.
 */
const author = z.object({
  userId: z.string(),
  userName: z.string().nullish(),
  fullName: z.string().nullish(),
  isBot: z.union([z.boolean(), z.literal("unknown")]).nullish(),
  isMe: z.boolean().nullish(),
});

const attachment = z.object({
  type: z.enum(["image", "file", "video", "audio"]).catch("file"),
  url: z.string().nullish(),
  name: z.string().nullish(),
  mimeType: z.string().nullish(),
  size: z.number().nullish(),
  fetchMetadata: z.record(z.string(), z.string()).nullish(),
});

const quoted = z.object({
  id: z.string(),
  text: z.string(),
  author,
  attachments: z.array(attachment),
});

const message = quoted.extend({
  isMention: z.boolean(),
  /** See `MessengerMessage.textToBot`. */
  textToBot: z.string().nullish(),
  isSlashCommand: z.boolean().nullish(),
  sentAt: z.number(),
  editedAt: z.number().nullish(),
  replyTo: quoted.nullish(),
});

export const storedEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), message, raw: z.unknown() }),
  z.object({ type: z.literal("edited"), message, raw: z.unknown() }),
  /** Nothing arrives in the chat until the person writes. */
  z.object({ type: z.literal("undelivered"), goneCode: z.string(), raw: z.unknown() }),
  z.object({ type: z.literal("deleted"), messageId: z.string(), raw: z.unknown() }),
  z.object({
    type: z.literal("action"),
    id: z.string(),
    data: z.string(),
    messageId: z.string().nullish(),
    /** See `MessengerAction.token`. */
    token: z.string().nullish(),
    user: author,
    raw: z.unknown(),
  }),
  z.object({
    type: z.literal("command"),
    command: z.string(),
    text: z.string(),
    messageId: z.string(),
    sentAt: z.number(),
    user: author,
    raw: z.unknown(),
  }),
  z.object({
    type: z.literal("reaction"),
    messageId: z.string(),
    /** Undefined if the platform does not tell which reaction was taken back. */
    emoji: z.string().nullish(),
    added: z.boolean(),
    user: author,
    raw: z.unknown(),
  }),
  /** An event that only the bot's own code handles. `raw`: the SDK's event. */
  z.object({ type: z.literal("update"), kind: z.string(), user: author.nullish(), raw: z.unknown() }),
]);

export type StoredEvent = z.infer<typeof storedEvent>;
export type StoredMessage = z.infer<typeof message>;
export type StoredQuote = z.infer<typeof quoted>;
export type StoredAuthor = z.infer<typeof author>;
export type StoredAttachment = z.infer<typeof attachment>;

/**
 * Returns a message of the SDK in its stored form. It never fails: mistakes of an adapter, such as an invalid date or a
 * number as an id, must not lose a message.
 *
 * @param now the time of arrival, for a message whose own time cannot be read
 */
export function storeMessage(
  source: Message,
  addressing: Pick<StoredMessage, "isMention" | "isSlashCommand" | "textToBot">,
  now: number,
): StoredMessage {
  const { dateSent, editedAt } = source.metadata ?? {};
  return {
    ...storeQuote(source),
    ...addressing,
    sentAt: timeOf(dateSent) ?? now,
    editedAt: timeOf(editedAt),
    ...(source.replyTo ? { replyTo: storeQuote(source.replyTo) } : {}),
  };
}

/** Copies the fields that are stored. `Message.toJSON()` would throw for an invalid date. */
function storeQuote({ id, text, author: from, attachments }: Message): StoredQuote {
  return {
    id: textOf(id) ?? "",
    text: textOf(text) ?? "",
    author: storeAuthor(from),
    attachments: (attachments ?? []).map(({ type, url, name, mimeType, size, fetchMetadata }) => ({
      type,
      name: textOf(name),
      mimeType: textOf(mimeType),
      size: typeof size === "number" && Number.isFinite(size) ? size : undefined,
      // An address may be signed. It is not needed if the adapter fetches the file by its own reference.
      ...(fetchMetadata ? { fetchMetadata: textsOf(fetchMetadata) } : { url: textOf(url) }),
    })),
  };
}

export function storeAuthor(source: Author | undefined): StoredAuthor {
  const { userId, userName, fullName, isBot, isMe }: Partial<Author> = source ?? {};
  return {
    userId: textOf(userId) ?? "unknown",
    userName: textOf(userName),
    fullName: textOf(fullName),
    isBot: typeof isBot === "boolean" || isBot === "unknown" ? isBot : undefined,
    isMe: typeof isMe === "boolean" ? isMe : undefined,
  };
}

/** Returns a platform's id or text as a string. Some adapters pass on ids as numbers. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

function textsOf(values: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(values).flatMap(([name, value]): [string, string][] => {
    const text = typeof value === "boolean" ? String(value) : textOf(value);
    return text === undefined ? [] : [[name, text]];
  });
  return Object.fromEntries(texts);
}

function timeOf(date: unknown): number | undefined {
  if (!(date instanceof Date) && typeof date !== "string" && typeof date !== "number") return undefined;
  const time = new Date(date).getTime();
  return Number.isFinite(time) ? time : undefined;
}

const maxDepth = 100;
/** Longest platform object that is stored, in characters. A row has room for it and the message. */
const maxLength = 250_000;

/**
 * Returns a platform's own object as plain JSON. Returns `null` for a cycle, for deep nesting, for a number that JSON
 * cannot hold, and for an object too long for a row.
 */
export function toJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) ?? "null";
    if (text.length > maxLength) return null;
    const json = JSON.parse(text) as unknown;
    return isDeeperThan(json, maxDepth) ? null : json;
  } catch {
    // Only the hook that reads the platform's object is affected. The event itself is complete.
    return null;
  }
}
