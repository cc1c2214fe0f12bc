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

/** A message of the SDK as it is stored. */
export function storeMessage(source: Message, isMention: boolean): StoredMessage {
  const { dateSent, editedAt } = source.metadata;
  return {
    ...storeQuote(source),
    isMention,
    sentAt: timeOf(dateSent) ?? 0,
    ...(editedAt === undefined ? {} : { editedAt: timeOf(editedAt) }),
    ...(source.replyTo === undefined ? {} : { replyTo: storeQuote(source.replyTo) }),
  };
}

function storeQuote(source: Message): StoredQuote {
  const { id, text, author, attachments } = source.toJSON();
  return {
    id,
    text,
    author: storeAuthor(author),
    attachments: attachments.map(({ type, url, name, mimeType, size, fetchMetadata }) => ({
      type,
      name,
      mimeType,
      size,
      fetchMetadata,
      // What the adapter can fetch by its own reference needs no address, which may be signed.
      ...(fetchMetadata === undefined ? { url } : {}),
    })),
  };
}

export function storeAuthor({ userId, userName, fullName, isBot, isMe }: Author): StoredAuthor {
  return { userId, userName, fullName, isBot, isMe };
}

function timeOf(date: Date): number | undefined {
  const time = new Date(date).getTime();
  return Number.isFinite(time) ? time : undefined;
}

const maxDepth = 100;

/** A platform's own object as JSON; `null` when it cannot be (a cycle, a very deep nest, a number too large for JSON). */
export function toJson(value: unknown): unknown {
  try {
    const json = JSON.parse(JSON.stringify(value) ?? "null") as unknown;
    return isDeeperThan(json, maxDepth) ? null : json;
  } catch {
    // Only the hook for the platform's object loses by it; the event itself is whole.
    return null;
  }
}
