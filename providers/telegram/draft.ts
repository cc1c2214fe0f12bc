import type { Drafts } from "../../src/core/surface.ts";
import type { TelegramClient } from "./client.ts";
import { toMessageEntities, topicOf } from "./message-fields.ts";
import { callRich, toInputRichMessage } from "./rich-message.ts";

/**
 * Drafts of the Bot API (https://core.telegram.org/bots/api#sendmessagedraft). The person sees a button that stops the
 * answer. The draft stays while the bot turns the text so far into a message.
 */
export function createTelegramDrafts(client: TelegramClient): Drafts {
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
