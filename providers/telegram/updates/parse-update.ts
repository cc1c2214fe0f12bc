import type { IncomingEvent } from "../../../src/core/chat/messenger.ts";
import type {
  MessengerCapabilities,
  MessengerEvent,
  MessengerEventKind,
  MessengerMessage,
} from "../../../src/core/chat/messenger-event.ts";
import { type BotNames, addressingOf } from "./addressing.ts";
import { attachmentsOf } from "../files/attachments.ts";
import { authorOf, chatAuthor, userAuthor } from "./author.ts";
import {
  type MembershipChange,
  type TelegramMessage,
  callbackQuery,
  membershipChange,
  messageReaction,
  type ReactionType,
  stoppedGeneration,
  readTelegramMessage,
} from "./message-schema.ts";
import { isMember, memberChangeOf } from "./membership.ts";
import { quotedMessageOf } from "./quoted-message.ts";
import { readableText, unreadableContent } from "./readable-text.ts";
import { serviceDetailOf } from "./service-detail.ts";
import type { RoutingSettings } from "../routing.ts";
import { updateKindOf } from "./update-kinds.ts";

const capabilities: MessengerCapabilities = {
  canEditMessages: true,
  canStream: true,
  maxMessageLength: 4096,
  supportsActions: true,
  supportsAttachments: true,
};

/** The part of an event that the update decides; the rest comes from its routing. */
type ParsedUpdate = Pick<
  MessengerEvent,
  "kind" | "author" | "message" | "action" | "stop" | "reaction" | "detail"
>;

/**
 * Returns the event of a stored update. An update that cannot be read becomes `ignored`, with a `detail` that says why.
 * Rejects only if the bot's own name is needed and cannot be determined.
 */
export async function parseUpdate(
  incoming: IncomingEvent,
  messengerId: string,
  bot: BotNames,
  settings: Pick<RoutingSettings, "reactions" | "takesUpdates">,
): Promise<MessengerEvent> {
  return {
    key: incoming.key,
    messengerId,
    provider: "telegram",
    thread: incoming.thread,
    capabilities,
    raw: incoming.raw,
    ...(await readUpdate(incoming.raw, bot, settings)),
  };
}

async function readUpdate(
  update: unknown,
  bot: BotNames,
  { reactions, takesUpdates }: Pick<RoutingSettings, "reactions" | "takesUpdates">,
): Promise<ParsedUpdate> {
  if (typeof update !== "object" || update === null) return unreadable("no update");
  const { kind, treatment } = updateKindOf(update as Record<string, unknown>, reactions);
  const content = (update as Record<string, unknown>)[kind];
  switch (treatment) {
    case "message":
    case "edit":
      return readMessage(content, treatment === "edit", bot);
    case "callback":
      return readCallback(content, takesUpdates);
    case "reaction":
      return readReaction(content);
    case "stop":
      return readStop(content);
    case "membership":
      return readMembership(content);
    case "ignored":
      return takesUpdates ? { kind: "update", detail: kind } : unreadable(kind);
    default:
      return treatment satisfies never;
  }
}

async function readMessage(content: unknown, isEdit: boolean, bot: BotNames): Promise<ParsedUpdate> {
  const parsed = readTelegramMessage(content);
  if (!parsed.success) return unreadable("unreadable message");
  const telegram = parsed.data;
  const author = authorOf(telegram);
  const isPrivate = telegram.chat.type === "private";
  const service = serviceDetailOf(content as Record<string, unknown>, { isPrivate });
  if (service !== undefined) {
    const member = memberChangeOf(content, bot.botId);
    return { kind: "service", author, detail: service, ...(member !== undefined && { member }) };
  }
  if (author?.userId === bot.botId) return { ...unreadable("own message"), author };
  const message = await messageOf(telegram, isEdit, bot);
  const kind = messageKind(telegram, isEdit, message.isMention);
  if (message.text !== "" || message.attachments.length > 0) return { kind, author, message };
  if (kind === "message") return { kind: "service", author, detail: "content of an unknown kind" };
  return { kind, author, message: { ...message, text: unreadableContent } };
}

async function messageOf(
  telegram: TelegramMessage,
  isEdit: boolean,
  bot: BotNames,
): Promise<MessengerMessage> {
  const { isMention, command, textToBot } = await addressingOf(telegram, bot);
  const quoted = quotedMessageOf(telegram, bot.botId);
  return {
    id: String(telegram.message_id),
    text: readableText(telegram),
    sentAt: telegram.date * 1000,
    ...(typeof telegram.edit_date === "number" ? { editedAt: telegram.edit_date * 1000 } : {}),
    isMention,
    ...(textToBot !== undefined && { textToBot }),
    // An edit corrects a text. It does not run a command.
    ...(command !== undefined && !isEdit ? { command } : {}),
    ...(quoted ? { quoted } : {}),
    ...(telegram.media_group_id ? { albumId: telegram.media_group_id } : {}),
    attachments: attachmentsOf(telegram),
  };
}

function messageKind(telegram: TelegramMessage, isEdit: boolean, isMention: boolean): MessengerEventKind {
  if (isEdit) return "message-edited";
  if (telegram.chat.type === "private") return "direct-message";
  return isMention ? "mention" : "message";
}

function readCallback(content: unknown, takesUpdates: boolean): ParsedUpdate {
  const parsed = callbackQuery.safeParse(content);
  if (!parsed.success) return unreadable("unreadable callback query");
  const { id, from, data, message } = parsed.data;
  // A button of an inline message, which belongs to no chat.
  if (!message && takesUpdates) return { kind: "update", author: userAuthor(from), detail: "callback_query" };
  return {
    kind: "action",
    author: userAuthor(from),
    action: { id, data: data ?? "", ...(message ? { messageId: String(message.message_id) } : {}) },
  };
}

function readReaction(content: unknown): ParsedUpdate {
  const parsed = messageReaction.safeParse(content);
  if (!parsed.success) return unreadable("unreadable reaction");
  const { actor_chat: chat, message_id: messageId, user } = parsed.data;
  const before = parsed.data.old_reaction.map(reactionName);
  const current = parsed.data.new_reaction.map(reactionName);
  const author = chat ? chatAuthor(chat) : user ? userAuthor(user) : undefined;
  return {
    kind: "reaction",
    ...(author !== undefined && { author }),
    reaction: {
      messageId: String(messageId),
      current,
      added: current.filter((name) => !before.includes(name)),
      removed: before.filter((name) => !current.includes(name)),
    },
  };
}

function reactionName({ custom_emoji_id: customId, emoji, type }: ReactionType): string {
  return emoji ?? (customId ? `custom:${customId}` : type);
}

/** Reads a press of the stop button. In a private chat the chat's id is the person's id. */
function readStop(content: unknown): ParsedUpdate {
  const parsed = stoppedGeneration.safeParse(content);
  if (!parsed.success) return unreadable("unreadable stop");
  const { chat, draft_id: draftId } = parsed.data;
  return { kind: "stop", author: chatAuthor(chat), stop: { draftId } };
}

function readMembership(content: unknown): ParsedUpdate {
  const parsed = membershipChange.safeParse(content);
  if (!parsed.success) return unreadable("unreadable membership");
  const { from } = parsed.data;
  const detail = membershipDetail(parsed.data);
  return {
    kind: "membership",
    ...(from ? { author: userAuthor(from) } : {}),
    detail,
    ...(detail !== "rights changed" && { member: { change: detail, people: [] } }),
  };
}

type MembershipDetail = "blocked" | "unblocked" | "added" | "removed" | "rights changed";

/** `blocked` and `unblocked` in private chats; `added`, `removed` and `rights changed` elsewhere. */
function membershipDetail({
  chat,
  old_chat_member: before,
  new_chat_member: now,
}: MembershipChange): MembershipDetail {
  if (chat.type === "private") return isMember(now) ? "unblocked" : "blocked";
  if (isMember(now)) return isMember(before) ? "rights changed" : "added";
  return "removed";
}

function unreadable(detail: string): ParsedUpdate {
  return { kind: "ignored", detail };
}
