import type { ReactionTypeEmoji } from "grammy/types";
import type { CallFailure, Pacing, Surface } from "../../src/core/surface.ts";
import { callError, type TelegramClient } from "./client.ts";
import { TelegramCallError } from "./call-error.ts";
import { captionFields, chatOf, contentFields, editMessage, photoOf, postFields } from "./edit-message.ts";
import { createTelegramProbing } from "./probing.ts";
import { createTelegramDrafts } from "./draft.ts";
import { topicOf } from "./message-fields.ts";
import { quietCard } from "./quiet-card.ts";
import { sendFiles, telegramFiles } from "./send-files.ts";
import { sendPlace } from "./send-place.ts";
import { callRich, telegramRich, toInputRichMessage } from "./rich-message.ts";

/** Any emoji is passed on: Telegram itself refuses those that are not on its list. */
type ReactionEmoji = ReactionTypeEmoji["emoji"];

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
      if (blocks !== undefined) {
        const sent = await callRich(client, "sendRichMessage", signal, (api, signal) =>
          api.sendRichMessage(
            chatOf(address),
            toInputRichMessage(blocks),
            postFields(address, message),
            signal,
          ),
        );
        return { messageId: String(sent.message_id) };
      }
      const fields = postFields(address, message);
      const { image } = message;
      if (image !== undefined && "source" in image)
        return sendFiles(client, address, [image], message, options);
      if (image !== undefined) {
        const sent = await client.call("sendPhoto", signal, (api, signal) =>
          api.sendPhoto(chatOf(address), photoOf(image), { ...captionFields(message), ...fields }, signal),
        );
        return { messageId: String(sent.message_id) };
      }
      const sent = await client.call("sendMessage", signal, (api, signal) =>
        api.sendMessage(chatOf(address), message.text, { ...contentFields(message), ...fields }, signal),
      );
      return { messageId: String(sent.message_id) };
    },

    async edit(address, messageId, message, options) {
      await editMessage(client, address, messageId, quietCard(message), options);
    },

    async remove(address, messageId, { signal }) {
      await client.call("deleteMessage", signal, (api, signal) =>
        api.deleteMessage(chatOf(address), Number(messageId), signal),
      );
    },

    async typing(address, { signal }) {
      await client.call("sendChatAction", signal, (api, signal) =>
        api.sendChatAction(chatOf(address), "typing", topicOf(address), signal),
      );
    },

    async answerAction(_address, { id }, notice, { signal }) {
      await client.call("answerCallbackQuery", signal, (api, signal) =>
        api.answerCallbackQuery(
          id,
          notice === undefined ? {} : { text: clipNotice(notice.text), show_alert: notice.alert ?? false },
          signal,
        ),
      );
    },

    async react(address, messageId, emoji, { signal }) {
      const reaction = emoji === undefined ? [] : [{ type: "emoji" as const, emoji: emoji as ReactionEmoji }];
      await client.call("setMessageReaction", signal, (api, signal) =>
        api.setMessageReaction(chatOf(address), Number(messageId), reaction, {}, signal),
      );
    },

    async pin(address, messageId, { isPinned, silent = false }, { signal }) {
      if (isPinned)
        await client.call("pinChatMessage", signal, (api, signal) =>
          api.pinChatMessage(chatOf(address), Number(messageId), { disable_notification: silent }, signal),
        );
      else
        await client.call("unpinChatMessage", signal, (api, signal) =>
          api.unpinChatMessage(
            chatOf(address),
            messageId === undefined ? undefined : Number(messageId),
            {},
            signal,
          ),
        );
    },

    probing: createTelegramProbing(client),
    classifyError: classifyTelegramError,
  };
}

/** Classifies an error. Never throws. If the error is not from a call of this surface, the call may have been done. */
export function classifyTelegramError(error: unknown): CallFailure {
  return error instanceof TelegramCallError ? error.failure : callError("unknown", error).failure;
}

const maxNoticeLength = 200;

/** Shortens a notice, because the platform refuses a longer one. */
function clipNotice(text: string): string {
  if (text.length <= maxNoticeLength) return text;
  return `${text.slice(0, maxNoticeLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
