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
      const { blocks } = draft;
      if (blocks !== undefined) {
        await callRich(client, "sendRichMessageDraft", signal, (api, signal) =>
          api.sendRichMessageDraft(
            Number(address.chatId),
            draft.id,
            toInputRichMessage(blocks),
            { ...topicOf(address), can_stop: true, keep_on_stop: true },
            signal,
          ),
        );
        return;
      }
      await client.call("sendMessageDraft", signal, (api, signal) =>
        api.sendMessageDraft(
          Number(address.chatId),
          draft.id,
          draft.text,
          {
            entities: toMessageEntities(draft),
            ...topicOf(address),
            can_stop: true,
            keep_on_stop: true,
          },
          signal,
        ),
      );
    },
  };
}
