import type { Author, Message } from "chat";
import { z } from "zod";
import { isDeeperThan } from "../../src/core/json-depth.ts";

/**
 * A Chat SDK event as the inbox stores it: what is read again when it is parsed, and the platform's own object.
 * The rendered tree of a message is left out: it is many times its text, and nothing reads it.
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
  sentAt: z.number(),
  editedAt: z.number().nullish(),
  replyTo: quoted.nullish(),
});

export const storedEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), message, raw: z.unknown() }),
  z.object({ type: z.literal("edited"), message, raw: z.unknown() }),
  z.object({ type: z.literal("deleted"), messageId: z.string(), raw: z.unknown() }),
  z.object({
    type: z.literal("action"),
    id: z.string(),
    data: z.string(),
    messageId: z.string().nullish(),
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
]);

export type StoredEvent = z.infer<typeof storedEvent>;
export type StoredMessage = z.infer<typeof message>;
export type StoredQuote = z.infer<typeof quoted>;
export type StoredAuthor = z.infer<typeof author>;
export type StoredAttachment = z.infer<typeof attachment>;

/**
 * A message of the SDK as it is stored. Total: an adapter's gaps and slips (a date that is none, a number for an id) never
 * refuse a message.
 *
 * @param now the time of arrival, for a message whose own time cannot be read
 */
export function storeMessage(source: Message, isMention: boolean, now: number): StoredMessage {
  const { dateSent, editedAt } = source.metadata ?? {};
  return {
    ...storeQuote(source),
    isMention,
    sentAt: timeOf(dateSent) ?? now,
    editedAt: timeOf(editedAt),
    ...(source.replyTo ? { replyTo: storeQuote(source.replyTo) } : {}),
  };
}

/** Not by `Message.toJSON()`, which throws for a date that is none. */
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
      // What the adapter can fetch by its own reference needs no address, which may be signed.
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

/** A platform's id or text; adapters for platforms with numbers for ids may hand those on. */
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
/** Longest platform object that is stored, in characters: with the message beside it, a row still fits. */
const maxLength = 250_000;

/**
 * A platform's own object as JSON; `null` when it cannot be (a cycle, a very deep nest, a number too large for JSON), or
 * is too long for a row.
 */
export function toJson(value: unknown): unknown {
  try {
    const text = JSON.stringify(value) ?? "null";
    if (text.length > maxLength) return null;
    const json = JSON.parse(text) as unknown;
    return isDeeperThan(json, maxDepth) ? null : json;
  } catch {
    // Only the hook for the platform's object loses by it; the event itself is whole.
    return null;
  }
}
