import type { CallFailure, OutgoingMessage, Pacing, Surface } from "../../src/core/surface.ts";
import { callError, type TelegramClient } from "./client.ts";
import { TelegramCallError } from "./call-error.ts";
import { captionFields, chatOf, contentFields, editMessage, photoOf } from "./edit-message.ts";
import { createTelegramProbing } from "./probing.ts";
import { createTelegramDrafts } from "./draft.ts";
import { topicOf } from "./message-fields.ts";
import { callRich, telegramRich, toInputRichMessage } from "./rich-message.ts";

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

    async post(address, message, { signal }) {
      const { blocks } = message;
      if (blocks !== undefined) {
        const sent = await callRich(client, "sendRichMessage", signal, (api, signal) =>
          api.sendRichMessage(
            chatOf(address),
            toInputRichMessage(blocks),
            { ...topicOf(address), ...replyOf(message), ...sendFields(message) },
            signal,
          ),
        );
        return { messageId: String(sent.message_id) };
      }
      const fields = { ...topicOf(address), ...replyOf(message), ...sendFields(message) };
      const { image } = message;
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

    async edit(address, messageId, message, { signal }) {
      await editMessage(client, address, messageId, message, signal);
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

    async answerAction(_address, actionId, notice, { signal }) {
      await client.call("answerCallbackQuery", signal, (api, signal) =>
        api.answerCallbackQuery(
          actionId,
          notice === undefined ? {} : { text: clipNotice(notice.text), show_alert: notice.alert ?? false },
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

function replyOf(message: OutgoingMessage): {
  reply_parameters?: { message_id: number; allow_sending_without_reply: boolean };
} {
  if (message.replyTo === undefined || message.replyTo === "") return {};
  return { reply_parameters: { message_id: Number(message.replyTo), allow_sending_without_reply: true } };
}

function sendFields({ protect, silent }: OutgoingMessage): {
  disable_notification?: true;
  protect_content?: true;
} {
  return {
    ...(silent === true && { disable_notification: true as const }),
    ...(protect === true && { protect_content: true as const }),
  };
}

const maxNoticeLength = 200;

/** Shortens a notice, because the platform refuses a longer one. */
function clipNotice(text: string): string {
  if (text.length <= maxNoticeLength) return text;
  return `${text.slice(0, maxNoticeLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
