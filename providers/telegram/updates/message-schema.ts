import { z } from "zod";

/**
 * Only the fields of a message that are read. A malformed field is left out instead of making the whole message
 * unreadable: one odd entity must not cost a person their answer.
 */
const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);

/** A list that keeps only its readable members. */
const listOf = <Schema extends z.ZodType>(schema: Schema) =>
  optional(
    z
      .array(z.unknown())
      .transform((items) => items.map((item) => schema.safeParse(item)).flatMap((one) => one.data ?? [])),
  );

export const telegramUser = z.object({
  id: z.int(),
  is_bot: optional(z.boolean()),
  first_name: optional(z.string()),
  last_name: optional(z.string()),
  username: optional(z.string()),
  language_code: optional(z.string()),
});

export const telegramChat = z.object({
  id: z.int(),
  type: optional(z.string()),
  title: optional(z.string()),
  first_name: optional(z.string()),
  last_name: optional(z.string()),
  username: optional(z.string()),
});

const messageEntity = z.object({
  type: z.string(),
  offset: z.int(),
  length: z.int(),
  url: optional(z.string()),
  user: optional(telegramUser),
});

const file = z.object({
  file_id: z.string().min(1),
  file_unique_id: optional(z.string()),
  file_size: optional(z.number()),
  file_name: optional(z.string()),
  mime_type: optional(z.string()),
});

const sticker = file.extend({
  emoji: optional(z.string()),
  is_animated: optional(z.boolean()),
  is_video: optional(z.boolean()),
});

const location = z.object({ latitude: z.number(), longitude: z.number() });

/** The content of a message besides its text. Messages and replies to other chats have the same fields. */
const content = z.object({
  animation: optional(file),
  audio: optional(file),
  document: optional(file),
  photo: listOf(file),
  sticker: optional(sticker),
  video: optional(file),
  video_note: optional(file),
  voice: optional(file),
  location: optional(location),
  venue: optional(z.object({ location: optional(location), title: z.string(), address: z.string() })),
  contact: optional(
    z.object({ phone_number: z.string(), first_name: z.string(), last_name: optional(z.string()) }),
  ),
  poll: optional(z.object({ question: z.string(), options: listOf(z.object({ text: z.string() })) })),
  dice: optional(z.object({ emoji: z.string(), value: z.number() })),
  game: optional(z.object({ title: z.string() })),
  invoice: optional(z.object({ title: z.string() })),
  checklist: optional(z.object({ title: z.string(), tasks: listOf(z.object({ text: z.string() })) })),
  story: optional(z.object({})),
  paid_media: optional(z.object({})),
  gift: optional(
    z.object({
      gift: optional(z.object({ sticker: optional(z.object({ emoji: optional(z.string()) })) })),
      text: optional(z.string()),
    }),
  ),
  unique_gift: optional(
    z.object({ gift: optional(z.object({ base_name: optional(z.string()) })), text: optional(z.string()) }),
  ),
  users_shared: optional(
    z.object({
      users: listOf(
        z.object({
          user_id: z.int(),
          first_name: optional(z.string()),
          last_name: optional(z.string()),
        }),
      ),
    }),
  ),
  chat_shared: optional(z.object({ chat_id: z.int(), title: optional(z.string()) })),
  web_app_data: optional(z.object({ data: z.string(), button_text: optional(z.string()) })),
  giveaway: optional(z.object({})),
  giveaway_winners: optional(z.object({})),
});

const textual = content.extend({
  text: optional(z.string()),
  entities: listOf(messageEntity),
  caption: optional(z.string()),
  caption_entities: listOf(messageEntity),
  rich_message: optional(z.object({ blocks: z.array(z.unknown()) })),
});

const quotedMessage = textual.extend({
  message_id: z.int(),
  from: optional(telegramUser),
  sender_chat: optional(telegramChat),
  forum_topic_created: optional(z.object({})),
});

const externalReply = content.extend({
  message_id: optional(z.int()),
  origin: optional(
    z.object({
      type: z.string(),
      sender_user: optional(telegramUser),
      sender_user_name: optional(z.string()),
      sender_chat: optional(telegramChat),
      chat: optional(telegramChat),
    }),
  ),
});

export const telegramMessage = textual.extend({
  message_id: z.int(),
  date: z.int(),
  edit_date: optional(z.int()),
  chat: telegramChat,
  message_thread_id: optional(z.int()),
  is_topic_message: optional(z.boolean()),
  from: optional(telegramUser),
  sender_chat: optional(telegramChat),
  media_group_id: optional(z.string()),
  reply_to_message: optional(quotedMessage),
  external_reply: optional(externalReply),
  reply_to_story: optional(z.object({})),
  quote: optional(z.object({ text: z.string(), is_manual: optional(z.boolean()) })),
});

type Field = keyof typeof telegramMessage.shape;
const FIELDS = Object.keys(telegramMessage.shape) as Field[];
const REQUIRED: ReadonlySet<Field> = new Set(["message_id", "date", "chat"]);
/** Schemas by the set of fields that a message has. */
const bySignature = new Map<string, z.ZodType<z.infer<typeof telegramMessage>>>();
const MOST_SIGNATURES = 200;

/**
 * Reads a message with a schema of only the fields that it has. A schema takes time for each of its fields, even for
 * missing ones, and a message has six of fifty.
 */
export function readTelegramMessage(value: unknown): z.ZodSafeParseResult<TelegramMessage> {
  if (typeof value !== "object" || value === null) return telegramMessage.safeParse(value);
  const fields = FIELDS.filter((name) => name in value || REQUIRED.has(name));
  const signature = fields.join();
  let schema = bySignature.get(signature);
  if (schema === undefined) {
    if (bySignature.size >= MOST_SIGNATURES) bySignature.clear();
    const mask: Partial<Record<Field, true>> = Object.fromEntries(fields.map((name) => [name, true]));
    schema = telegramMessage.pick(mask);
    bySignature.set(signature, schema);
  }
  return schema.safeParse(value);
}

export const callbackQuery = z.object({
  id: z.string().min(1),
  from: telegramUser,
  data: optional(z.string()),
  message: optional(z.object({ message_id: z.int() })),
});

const reactionType = z.object({
  type: z.string(),
  emoji: optional(z.string()),
  custom_emoji_id: optional(z.string()),
});

export const messageReaction = z.object({
  chat: telegramChat,
  message_id: z.int(),
  user: optional(telegramUser),
  actor_chat: optional(telegramChat),
  old_reaction: z.array(reactionType),
  new_reaction: z.array(reactionType),
});

export const stoppedGeneration = z.object({ chat: telegramChat, draft_id: z.int() });

export const membershipChange = z.object({
  chat: telegramChat,
  from: optional(telegramUser),
  old_chat_member: z.object({ status: z.string(), is_member: optional(z.boolean()) }),
  new_chat_member: z.object({ status: z.string(), is_member: optional(z.boolean()) }),
});

/** A service message about people who came or went. */
export const memberMessage = z.object({
  new_chat_members: optional(z.array(telegramUser)),
  left_chat_member: optional(telegramUser),
});

export type TelegramUser = z.infer<typeof telegramUser>;
export type TelegramChat = z.infer<typeof telegramChat>;
export type MessageEntity = z.infer<typeof messageEntity>;
export type TelegramFile = z.infer<typeof file>;
export type MessageContent = z.infer<typeof content>;
export type TextualMessage = z.infer<typeof textual>;
export type TelegramMessage = z.infer<typeof telegramMessage>;
export type ReactionType = z.infer<typeof reactionType>;
export type MembershipChange = z.infer<typeof membershipChange>;
