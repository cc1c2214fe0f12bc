import type { MessageEntity } from "grammy/types";
import type { Address, OutgoingContent } from "../../src/core/surface.ts";
import type { TelegramClient } from "./client.ts";
import { toMessageEntities } from "./message-fields.ts";
import { callRich, toInputRichMessage } from "./rich-message.ts";

/** Changes one of the bot's messages. Resolves with the Bot API's response. */
export async function editMessage(
  client: TelegramClient,
  address: Address,
  messageId: string,
  message: OutgoingContent,
  signal: AbortSignal,
): Promise<unknown> {
  const { blocks } = message;
  if (blocks !== undefined) {
    return callRich(client, "editMessageText", signal, (api, signal) =>
      api.editMessageText(chatOf(address), Number(messageId), toInputRichMessage(blocks), {}, signal),
    );
  }
  return client.call("editMessageText", signal, (api, signal) =>
    api.editMessageText(chatOf(address), Number(messageId), message.text, contentFields(message), signal),
  );
}

/** Returns the fields of a text in the form of the Bot API. */
export function contentFields(message: OutgoingContent): {
  entities: MessageEntity[];
  link_preview_options: { is_disabled: boolean };
} {
  return {
    entities: toMessageEntities(message),
    link_preview_options: { is_disabled: message.linkPreviews !== true },
  };
}

export function chatOf({ chatId }: Address): number | string {
  const id = Number(chatId);
  return Number.isSafeInteger(id) ? id : chatId;
}
