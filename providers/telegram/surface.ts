import type { ReactionTypeEmoji } from "grammy/types";
import type {
  Address,
  CallFailure,
  Drafts,
  OutgoingMessage,
  Pacing,
  PostedMessage,
  Surface,
} from "../../src/core/chat/surface.ts";
import { callError, type TelegramClient } from "./client.ts";
import { TelegramCallError } from "./call-error.ts";
import { captionFields, chatOf, contentFields, editMessage, photoOf, postFields } from "./edit-message.ts";
import { createTelegramProbing } from "./probing.ts";
import { clipped, toMessageEntities, topicOf } from "./updates/message-fields.ts";
import { quietCard } from "./quiet-card.ts";
import { sendFiles, telegramFiles } from "./files/send-files.ts";
import { callRich, telegramRich, toInputRichMessage } from "./rich-message.ts";

/** Any emoji is passed on: Telegram itself refuses those that are not on its list. */
type ReactionEmoji = ReactionTypeEmoji["emoji"];

const maxNoticeLength = 200;

/** Creates the delivery engine's view of Telegram: one Bot API call per method. */
export function createTelegramSurface(client: TelegramClient, pacing: Pacing): Surface {
  return {
    provider: "telegram",
    capabilities: {
      edit: true,
      remove: true,
      typing: true,
      buttons: true,
      copyButtons: true,
      images: true,
      files: telegramFiles,
      location: true,
    },
    format: "telegram-entities",
    limits: { maxLength: 4096, maxEntities: 100 },
    captionLimits: { maxLength: 1024, maxEntities: 100 },
    pacing,
    // A post without an answer by then is searched for, two seconds later.
    callTimeoutMs: 6000,
    typingLastsMs: 5000,
    drafts: createTelegramDrafts(client),
    rich: telegramRich,

    async post(address, content, options) {
      const message = quietCard(content);
      const { signal } = options;
      const { blocks, files, location } = message;
      if (files !== undefined) return sendFiles(client, address, files, message, options);
      if (location !== undefined) return sendPlace(client, address, location, message, signal);
      const fields = { chat_id: chatOf(address), ...postFields(address, message) };
      if (blocks !== undefined) {
        const rich = { ...fields, rich_message: toInputRichMessage(blocks) };
        return posted(await callRich(client, "sendRichMessage", rich, signal));
      }
      const { image, text } = message;
      if (image !== undefined && "source" in image)
        return sendFiles(client, address, [image], message, options);
      if (image !== undefined) {
        const photo = { ...captionFields(message), ...fields, photo: photoOf(image) };
        return posted(await client.call("sendPhoto", photo, signal));
      }
      return posted(await client.call("sendMessage", { ...contentFields(message), ...fields, text }, signal));
    },

    async edit(address, messageId, message, options) {
      await editMessage(client, address, messageId, quietCard(message), options);
    },

    async remove(address, messageId, { signal }) {
      await client.call("deleteMessage", messageAt(address, messageId), signal);
    },

    async typing(address, { signal }) {
      const typing = { chat_id: chatOf(address), action: "typing", ...topicOf(address) } as const;
      await client.call("sendChatAction", typing, signal);
    },

    async answerAction(_address, { id }, notice, { signal }) {
      const shown = notice && {
        text: clipped(notice.text, maxNoticeLength),
        show_alert: notice.alert ?? false,
      };
      await client.call("answerCallbackQuery", { callback_query_id: id, ...shown }, signal);
    },

    async react(address, messageId, emoji, { signal }) {
      const reaction = emoji === undefined ? [] : [{ type: "emoji" as const, emoji: emoji as ReactionEmoji }];
      await client.call("setMessageReaction", { ...messageAt(address, messageId), reaction }, signal);
    },

    async pin(address, messageId, { isPinned, silent = false }, { signal }) {
      const chat = { chat_id: chatOf(address) };
      const message = messageId === undefined ? chat : messageAt(address, messageId);
      if (!isPinned) await client.call("unpinChatMessage", message, signal);
      else {
        const pinned = { ...chat, message_id: Number(messageId), disable_notification: silent };
        await client.call("pinChatMessage", pinned, signal);
      }
    },

    probing: createTelegramProbing(client),
    classifyError: classifyTelegramError,
  };
}

function posted({ message_id: id }: { readonly message_id: number }): PostedMessage {
  return { messageId: String(id) };
}

function messageAt(address: Address, messageId: string): { chat_id: number | string; message_id: number } {
  return { chat_id: chatOf(address), message_id: Number(messageId) };
}

/** Classifies an error. Never throws. If the error is not from a call of this surface, the call may have been done. */
export function classifyTelegramError(error: unknown): CallFailure {
  return error instanceof TelegramCallError ? error.failure : callError("unknown", error).failure;
}

/**
 * Drafts of the Bot API (https://core.telegram.org/bots/api#sendmessagedraft). The person sees a button that stops the
 * answer. The draft stays while the bot turns the text so far into a message.
 */
function createTelegramDrafts(client: TelegramClient): Drafts {
  return {
    lastsMs: 30_000,
    async show(address, draft, { signal }) {
      const { blocks, id, text } = draft;
      const shown = {
        chat_id: Number(address.chatId),
        draft_id: id,
        ...topicOf(address),
        can_stop: true,
        keep_on_stop: true,
      } as const;
      if (blocks !== undefined) {
        const rich = { ...shown, rich_message: toInputRichMessage(blocks) };
        await callRich(client, "sendRichMessageDraft", rich, signal);
      } else {
        const entities = toMessageEntities(draft);
        await client.call("sendMessageDraft", { ...shown, text, entities }, signal);
      }
    },
  };
}

/**
 * Posts a place on a map, as a venue if it has a title or an address. A venue needs both: the coordinates stand in for
 * the one that is not given.
 */
async function sendPlace(
  client: TelegramClient,
  address: Address,
  { address: street, latitude, longitude, title }: NonNullable<OutgoingMessage["location"]>,
  message: OutgoingMessage,
  signal: AbortSignal,
): Promise<PostedMessage> {
  const place = { ...postFields(address, message), chat_id: chatOf(address), latitude, longitude };
  const name = title ?? street;
  const where = (title === undefined ? undefined : street) ?? `${latitude}, ${longitude}`;
  const sent =
    name === undefined
      ? await client.call("sendLocation", place, signal)
      : await client.call("sendVenue", { ...place, title: name, address: where }, signal);
  return { messageId: String(sent.message_id) };
}
