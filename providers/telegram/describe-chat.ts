import { z } from "zod";
import type { ChatFacts, TopicFacts } from "../../src/core/chat.ts";
import type { IncomingEvent } from "../../src/core/messenger.ts";
import { nameOf } from "./author.ts";
import { isMember } from "./membership.ts";
import { serviceDetailOf } from "./service-detail.ts";
import { updateKindOf } from "./update-kinds.ts";

const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().catch(undefined);
const named = optional(z.object({ name: optional(z.string()) }));
const member = optional(z.object({ status: z.string(), is_member: optional(z.boolean()) }));

/** The few fields of an update that tell about its chat: this runs in the root for every webhook. */
const content = z.object({
  chat: optional(
    z.object({
      id: z.int(),
      type: z.enum(["private", "group", "supergroup", "channel"]),
      title: optional(z.string()),
      first_name: optional(z.string()),
      last_name: optional(z.string()),
    }),
  ),
  from: optional(z.object({ language_code: optional(z.string()) })),
  new_chat_member: member,
  forum_topic_created: named,
  forum_topic_edited: named,
  reply_to_message: optional(z.object({ forum_topic_created: named })),
});

type Content = z.infer<typeof content>;

/** What an update shows of its chat. Total: anything unreadable is left out. */
export function describeChat({ raw, thread }: IncomingEvent): ChatFacts {
  const update = typeof raw === "object" && raw !== null ? (raw as Record<string, unknown>) : {};
  const { kind, treatment } = updateKindOf(update);
  const about = content.safeParse(update[kind]).data ?? {};
  const message = treatment === "callback" ? messageOf(update[kind]) : update[kind];
  const chat = (treatment === "callback" ? content.safeParse(message).data : about)?.chat;
  const isPrivate = thread.isDirectMessage;
  const title = chat?.title ?? (isPrivate && chat ? nameOf(chat) : "");
  const language = isPrivate ? about.from?.language_code : undefined;
  const topic = thread.topicId === undefined ? undefined : topicOf(thread.topicId, about);
  const isReachable = reachability(treatment, about, update[kind], isPrivate);
  return {
    kind: chat?.type ?? (isPrivate ? "private" : "group"),
    ...(title !== "" && { title }),
    ...(language && { language }),
    // A private chat has the id of its person.
    ...(isPrivate && { userId: thread.chatId }),
    ...(topic !== undefined && { topic }),
    ...(isReachable !== undefined && { isReachable }),
  };
}

function messageOf(callback: unknown): unknown {
  return typeof callback === "object" && callback !== null && "message" in callback
    ? callback.message
    : undefined;
}

/** A message of a topic that replies to nothing else replies to the service message that created the topic. */
function topicOf(id: string, about: Content): TopicFacts {
  const name = about.forum_topic_created?.name ?? about.forum_topic_edited?.name;
  const firstName = about.reply_to_message?.forum_topic_created?.name;
  return { id, ...(name && { name }), ...(firstName && { firstName }) };
}

/** Service messages tell neither: one of them says that the bot was removed. */
function reachability(
  treatment: ReturnType<typeof updateKindOf>["treatment"],
  { new_chat_member: now }: Content,
  message: unknown,
  isPrivate: boolean,
): boolean | undefined {
  if (treatment === "membership") return now ? isMember(now) : undefined;
  if (treatment === "ignored" || typeof message !== "object" || message === null) return undefined;
  const isService = serviceDetailOf(message as Record<string, unknown>, { isPrivate }) !== undefined;
  return isService ? undefined : true;
}
