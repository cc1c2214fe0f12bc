import type { Address, ProbeOptions, Probing } from "../../src/core/surface.ts";
import { TelegramCallError } from "./call-error.ts";
import type { TelegramClient } from "./client.ts";
import { chatOf, editMessage } from "./edit-message.ts";
import { keyboardOf } from "./keyboard.ts";

const LOST = { kind: "unknown", code: "unknown" };
/** Chats from here on downwards are supergroups and channels. */
const firstSupergroupId = -1_000_000_000_000;

/**
 * Message ids grow by one within each supergroup, and within one box for all of the bot's private chats and basic
 * groups (known from the client protocol, not promised by the Bot API). A bot can edit its own messages only, so an
 * edit of the keyboard tells whose a message is. The edit carries the keyboard that the lost message should have, so it
 * changes nothing on that message. In a supergroup a message of somebody else is refused in other words than one that is
 * not there. Another message of the bot would get this keyboard in place of its own, so the ids of messages with buttons
 * must be known to whoever asks.
 *
 * A server that does not know this method is asked by an edit of the text, to what the lost message should say.
 */
export function createTelegramProbing(client: TelegramClient): Probing {
  const box = ({ chatId }: Address): string => (Number(chatId) < firstSupergroupId ? chatId : "common");
  let isKeyboardEditMissing = false;
  return {
    box,
    async probe(address: Address, messageId: string, { signal, intended }: ProbeOptions) {
      const byText = isKeyboardEditMissing ? intended : undefined;
      const method = byText === undefined ? "editMessageReplyMarkup" : "editMessageText";
      let edited: unknown;
      try {
        edited = await (byText === undefined
          ? client.call(method, signal, (api, signal) =>
              api.editMessageReplyMarkup(chatOf(address), Number(messageId), keyboardOf(intended), signal),
            )
          : editMessage(client, address, messageId, byText, signal));
      } catch (error) {
        const { kind, code } = error instanceof TelegramCallError ? error.failure : LOST;
        if (code === "method-missing") {
          const isSecondWay = byText === undefined && intended !== undefined;
          isKeyboardEditMissing = true;
          // The engine asks again for what is transient, and then by the text.
          throw new TelegramCallError(method, { kind: isSecondWay ? "transient" : "rejected", code });
        }
        if (kind === "unchanged") return "own";
        // In the common box a message of another chat is not found either.
        if (code === "message-missing" && box(address) === address.chatId) return "none";
        if (kind === "missing") return "other";
        throw error;
      }
      if (isMessage(edited, messageId)) return "own";
      // A server that accepts anything has not looked: nothing may be concluded from that.
      throw new TelegramCallError(method, { kind: "rejected", code: "unexpected-answer" });
    },
  };
}

function isMessage(answer: unknown, messageId: string): boolean {
  if (typeof answer !== "object" || answer === null || !("message_id" in answer)) return false;
  return String(answer.message_id) === messageId;
}
