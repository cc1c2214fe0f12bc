import type { InlineKeyboardMarkup, MessageEntity } from "grammy/types";
import type { RemoteFile } from "../../src/core/message/content.ts";
import type {
  Address,
  CallOptions,
  OutgoingContent,
  OutgoingMedia,
  OutgoingMessage,
} from "../../src/core/chat/surface.ts";
import type { TelegramClient } from "./client.ts";
import { keyboardOf } from "./keyboard.ts";
import { toMessageEntities, topicOf } from "./updates/message-fields.ts";
import { mediaValue } from "./files/media-value.ts";
import type { UploadPart } from "./files/multipart.ts";
import { callRich, toInputRichMessage } from "./rich-message.ts";

/** Changes one of the bot's messages. Resolves with the Bot API's response. */
export async function editMessage(
  client: TelegramClient,
  address: Address,
  messageId: string,
  message: OutgoingContent,
  options: CallOptions,
): Promise<unknown> {
  const { openFile, signal } = options;
  const { blocks, files, image, isCaption } = message;
  const edited = { chat_id: chatOf(address), message_id: Number(messageId) };
  if (blocks !== undefined) {
    const rich = { ...edited, rich_message: toInputRichMessage(blocks), ...keyboardOf(message) };
    return callRich(client, "editMessageText", rich, signal);
  }
  const isPicture = image !== undefined && "source" in image;
  if (isPicture && openFile !== undefined)
    return replacePicture(client, address, edited.message_id, message, image, options);
  if (image !== undefined && !isPicture) {
    const { reply_markup: _keyboard, ...caption } = captionFields(message);
    const media = { type: "photo", media: photoOf(image), ...caption } as const;
    return client.call("editMessageMedia", { ...edited, media, ...keyboardOf(message) }, signal);
  }
  // A search for a lost post has no bytes. The picture of the message is the right one already.
  if (isPicture || isCaption === true || files !== undefined)
    return client.call("editMessageCaption", { ...edited, ...captionFields(message) }, signal);
  return client.call("editMessageText", { ...edited, text: message.text, ...contentFields(message) }, signal);
}

/** Uploads another picture for a message. */
function replacePicture(
  client: TelegramClient,
  address: Address,
  messageId: number,
  message: OutgoingContent,
  image: OutgoingMedia,
  { openFile, ...reading }: CallOptions,
): Promise<unknown> {
  const { reply_markup: keyboard, ...caption } = captionFields(message);
  const uploads: UploadPart[] = [];
  const media = { type: "photo", media: mediaValue(image, "picture", uploads, openFile), ...caption };
  const payload = {
    chat_id: chatOf(address),
    message_id: messageId,
    media,
    ...(keyboard !== undefined && { reply_markup: keyboard }),
  };
  return client.upload("editMessageMedia", payload, uploads, reading);
}

/** Returns the fields of a text in the form of the Bot API. */
export function contentFields(message: OutgoingContent): {
  entities: MessageEntity[];
  link_preview_options: { is_disabled: boolean };
  reply_markup?: InlineKeyboardMarkup;
} {
  return {
    entities: toMessageEntities(message),
    link_preview_options: { is_disabled: message.linkPreviews !== true },
    ...keyboardOf(message),
  };
}

/** Returns the Bot API fields of a caption. */
export function captionFields(message: OutgoingContent): {
  caption: string;
  caption_entities: MessageEntity[];
  reply_markup?: InlineKeyboardMarkup;
} {
  return { caption: message.text, caption_entities: toMessageEntities(message), ...keyboardOf(message) };
}

/** Returns a picture that the Bot API fetches by itself. */
export function photoOf(image: RemoteFile): string {
  return "fileId" in image ? image.fileId : image.url;
}

/** Returns the Bot API fields of a post beside its content. */
export function postFields(
  address: Address,
  { protect, replyTo, silent }: OutgoingMessage,
): {
  message_thread_id?: number;
  reply_parameters?: { message_id: number; allow_sending_without_reply: boolean };
  disable_notification?: true;
  protect_content?: true;
} {
  return {
    ...topicOf(address),
    ...(replyTo !== undefined &&
      replyTo !== "" && {
        reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true },
      }),
    ...(silent === true && { disable_notification: true as const }),
    ...(protect === true && { protect_content: true as const }),
  };
}

export function chatOf({ chatId }: Address): number | string {
  const id = Number(chatId);
  return Number.isSafeInteger(id) ? id : chatId;
}
