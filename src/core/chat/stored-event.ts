import { z } from "zod";
import { CheckedJson } from "../json/checked-json.ts";
import type { CardClaim } from "./gate.ts";
import type { MessengerAttachment, MessengerEvent, MessengerThread } from "./messenger-event.ts";
import { personSchema } from "./stored-address.ts";

/** Stored events. Unknown fields are kept, so that an event of a newer version loses nothing here. */

const threadSchema = z.looseObject({
  id: z.string(),
  chatId: z.string(),
  topicId: z.string().optional(),
  isDirectMessage: z.boolean(),
  title: z.string().optional(),
  formerChatId: z.string().optional(),
});

const authorSchema = personSchema.loose();

const attachmentSchema = z.looseObject({
  kind: z.custom<MessengerAttachment["kind"]>((kind) => typeof kind === "string"),
  reference: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  mediaType: z.string().optional(),
  name: z.string().optional(),
  sizeBytes: z.number().optional(),
});

const quotedSchema = z.looseObject({
  id: z.string(),
  text: z.string(),
  author: authorSchema.optional(),
  isFromBot: z.boolean(),
  attachments: z.array(attachmentSchema),
});

const messageSchema = z.looseObject({
  id: z.string(),
  text: z.string(),
  author: authorSchema.optional(),
  sentAt: z.number(),
  editedAt: z.number().optional(),
  isMention: z.boolean(),
  textToBot: z.string().optional(),
  command: z
    .looseObject({ name: z.string(), args: z.string(), isForThisBot: z.boolean().optional() })
    .optional(),
  isSlashCommand: z.boolean().optional(),
  quoted: quotedSchema.optional(),
  albumId: z.string().optional(),
  attachments: z.array(attachmentSchema),
});

const eventSchema = z.looseObject({
  key: z.string(),
  kind: z.custom<MessengerEvent["kind"]>((kind) => typeof kind === "string"),
  messengerId: z.string(),
  provider: z.string(),
  thread: threadSchema,
  author: authorSchema.optional(),
  message: messageSchema.optional(),
  action: z.looseObject({ id: z.string(), data: z.string(), messageId: z.string().optional() }).optional(),
  stop: z.looseObject({ draftId: z.number() }).optional(),
  capabilities: z.looseObject({
    canEditMessages: z.boolean(),
    canStream: z.boolean(),
    maxMessageLength: z.number(),
    supportsActions: z.boolean(),
    supportsAttachments: z.boolean(),
  }),
  detail: z.string().optional(),
});

/**
 * Returns a thread as JSON for the store. A provider or bot code may have made it, so it is checked first: a row that
 * cannot be read would stop its conversation.
 */
export function storeThread(thread: MessengerThread): string {
  const json = JSON.stringify(thread);
  parseThread(json);
  return json;
}

/** Returns an event as JSON for the store, without the platform's own object. It is checked like a thread. */
export function storeEvent({ raw: _raw, ...event }: MessengerEvent): string {
  const json = JSON.stringify(event);
  parseEvent(json);
  return json;
}

const threads = new CheckedJson<MessengerThread>(threadSchema);
const events = new CheckedJson<MessengerEvent>(eventSchema);

export function parseThread(json: string): MessengerThread {
  return threads.read(json);
}

export function parseEvent(json: string): MessengerEvent {
  return events.read(json);
}

const claimSchema = z.object({
  speaker: z.string(),
  key: z.string(),
  option: z.int().optional(),
  isBareWord: z.boolean().optional(),
});

/** Reads a stored claim of a card on an event. */
export function parseClaim(json: string): CardClaim {
  const { isBareWord, option, ...claim } = claimSchema.parse(JSON.parse(json));
  return { ...claim, ...(option !== undefined && { option }), ...(isBareWord === true && { isBareWord }) };
}
