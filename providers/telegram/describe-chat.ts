import { z } from "zod";
import type { ChatFacts, TopicFacts } from "../../src/core/chat/chat.ts";
import type { IncomingEvent } from "../../src/core/chat/messenger.ts";
import { nameOf } from "./updates/author.ts";
import { isMember } from "./updates/membership.ts";
import { serviceDetailOf } from "./updates/service-detail.ts";
import { type UpdateTreatment, updateKindOf } from "./updates/update-kinds.ts";

const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);
const named = optional(z.object({ name: optional(z.string()) }));

const chatSchema = z.object({
  type: z.enum(["private", "group", "supergroup", "channel"]),
  title: optional(z.string()),
  first_name: optional(z.string()),
  last_name: optional(z.string()),
});
const personSchema = z.object({ language_code: optional(z.string()) });
const memberSchema = z.object({ status: z.string(), is_member: optional(z.boolean()) });
const topicSchema = z.object({
  forum_topic_created: named,
  forum_topic_edited: named,
  reply_to_message: optional(z.object({ forum_topic_created: named })),
});

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns an update's facts about its chat. Never throws: anything unreadable is left out. It reads only the fields
 * that this kind of update and chat can have, because it runs in the root for every webhook.
 */
export function describeChat({ raw, thread }: IncomingEvent): ChatFacts {
  const update = fieldsOf(raw);
  const { kind, treatment } = updateKindOf(update, true);
  const content = fieldsOf(update[kind]);
  const isPrivate = thread.isDirectMessage;
  const about = treatment === "callback" ? fieldsOf(content["message"]) : content;
  const chat = chatSchema.safeParse(about["chat"]).data;
  const title = chat?.title ?? (isPrivate && chat ? nameOf(chat) : "");
  const language = isPrivate ? personSchema.safeParse(content["from"]).data?.language_code : undefined;
  const isReachable = reachability(treatment, content, isPrivate);
  return {
    kind: chat?.type ?? (isPrivate ? "private" : "group"),
    ...(title !== "" && { title }),
    ...(language && { language }),
    // A private chat has the id of its person.
    ...(isPrivate && { userId: thread.chatId }),
    ...(thread.topicId !== undefined && { topic: topicOf(thread.topicId, about) }),
    ...(isReachable !== undefined && { isReachable }),
  };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/**
 * Returns the facts about a topic. A message of a topic that replies to nothing else replies to the service message
 * that created the topic.
 */
function topicOf(id: string, message: Fields): TopicFacts {
  const fields = topicSchema.safeParse(message).data;
  const name = fields?.forum_topic_created?.name ?? fields?.forum_topic_edited?.name;
  const firstName = fields?.reply_to_message?.forum_topic_created?.name;
  return { id, ...(name && { name }), ...(firstName && { firstName }) };
}

/**
 * Tells whether the bot can be read in the chat. Service messages do not tell it, because one of them says that the bot
 * was removed.
 */
function reachability(treatment: UpdateTreatment, content: Fields, isPrivate: boolean): boolean | undefined {
  switch (treatment) {
    case "callback":
    case "stop":
    case "reaction":
      return true;
    case "message":
    case "edit":
      if (typeof content["text"] === "string") return true;
      return serviceDetailOf(content, { isPrivate }) === undefined ? true : undefined;
    case "membership": {
      const now = memberSchema.safeParse(content["new_chat_member"]).data;
      return now && isMember(now);
    }
    case "ignored":
      return undefined;
    default:
      return treatment satisfies never;
  }
}
