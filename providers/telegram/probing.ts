import type { Address, ProbeOptions, Probing } from "../../src/core/chat/surface.ts";
import { TelegramCallError } from "./call-error.ts";
import type { TelegramClient } from "./client.ts";
import { chatOf, editMessage } from "./edit-message.ts";
import { keyboardOf } from "./keyboard.ts";

const LOST = { kind: "unknown", code: "unknown" };
/** Chats with this id or a lower one are supergroups and channels. */
const firstSupergroupId = -1_000_000_000_000;

/**
 * Searches for lost posts. Message ids are consecutive within each supergroup, and within one box for all of the bot's
 * private chats and basic groups (known from the client protocol, not promised by the Bot API). A bot can edit only its
 * own messages, so an edit of the keyboard tells whose message an id belongs to.
 *
 * - The edit has the keyboard of the lost message, so it changes nothing on that message. Another message of the bot
 *   would get this keyboard, so the ids of messages with buttons must be known to the caller.
 * - In a supergroup the refusal has different words for somebody else's message and for a missing one.
 * - If a server does not know this method, the text is edited instead, to the text of the lost message.
 */
export function createTelegramProbing(client: TelegramClient): Probing {
  const box = ({ chatId }: Address): string => (Number(chatId) < firstSupergroupId ? chatId : "common");
  let isKeyboardEditMissing = false;
  return {
    box,
    async probe(address: Address, messageId: string, { buttons, intended, signal }: ProbeOptions) {
      const byText = isKeyboardEditMissing ? intended : undefined;
      const method = byText === undefined ? "editMessageReplyMarkup" : "editMessageText";
      let edited: unknown;
      try {
        edited = await (byText === undefined
          ? client.call(
              "editMessageReplyMarkup",
              { chat_id: chatOf(address), message_id: Number(messageId), ...keyboardOf({ buttons }) },
              signal,
            )
          : editMessage(client, address, messageId, byText, { signal }));
      } catch (error) {
        const { kind, code } = error instanceof TelegramCallError ? error.failure : LOST;
        if (code === "method-missing") {
          const isSecondWay = byText === undefined && intended !== undefined;
          isKeyboardEditMissing = true;
          // The engine repeats a transient failure, and then the text is edited.
          throw new TelegramCallError(method, { kind: isSecondWay ? "transient" : "rejected", code });
        }
        if (kind === "unchanged") return "own";
        // In the shared box, messages of other chats are "not found" too.
        if (code === "message-missing" && box(address) === address.chatId) return "none";
        if (kind === "missing") return "other";
        throw error;
      }
      if (isMessage(edited, messageId)) return "own";
      // A server that accepts everything has not checked the id, so this proves nothing.
      throw new TelegramCallError(method, { kind: "rejected", code: "unexpected-answer" });
    },
  };
}

function isMessage(answer: unknown, messageId: string): boolean {
  if (typeof answer !== "object" || answer === null || !("message_id" in answer)) return false;
  return String(answer.message_id) === messageId;
}
