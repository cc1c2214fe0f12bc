import type { Address, CallOptions, Probing } from "../../src/core/surface.ts";
import { TelegramCallError } from "./call-error.ts";
import type { TelegramClient } from "./client.ts";

const LOST = { kind: "unknown", code: "unknown" };
/** Chats from here on downwards are supergroups and channels. */
const firstSupergroupId = -1_000_000_000_000;

/**
 * Message ids grow by one within each supergroup, and within one box for all of the bot's private chats and basic
 * groups (known from the client protocol, not promised by the Bot API). A bot can edit its own messages only, so an
 * edit of the keyboard tells whose a message is. It is asked for without a keyboard: on a message without one it
 * changes nothing. In a supergroup a message of somebody else is refused in other words than one that is not there. One
 * that has a keyboard loses it, so the ids of messages with buttons must be known to whoever
 * asks.
 */
export function createTelegramProbing(client: TelegramClient): Probing {
  const box = ({ chatId }: Address): string => (Number(chatId) < firstSupergroupId ? chatId : "common");
  return {
    box,
    async probe(address: Address, messageId: string, { signal }: CallOptions) {
      const { chatId } = address;
      const id = Number(chatId);
      const chat = Number.isSafeInteger(id) ? id : chatId;
      let edited: unknown;
      try {
        edited = await client.call("editMessageReplyMarkup", signal, (api, signal) =>
          api.editMessageReplyMarkup(chat, Number(messageId), {}, signal),
        );
      } catch (error) {
        const { kind, code } = error instanceof TelegramCallError ? error.failure : LOST;
        if (code === "method-missing") {
          throw new TelegramCallError("editMessageReplyMarkup", { kind: "rejected", code });
        }
        if (kind === "unchanged") return "own";
        // In the common box a message of another chat is not found either.
        if (code === "message-missing" && box(address) === chatId) return "none";
        if (kind === "missing") return "other";
        throw error;
      }
      if (isMessage(edited, messageId)) return "own";
      // A server that accepts anything has not looked: nothing may be concluded from that.
      throw new TelegramCallError("editMessageReplyMarkup", { kind: "rejected", code: "unexpected-answer" });
    },
  };
}

function isMessage(answer: unknown, messageId: string): boolean {
  if (typeof answer !== "object" || answer === null || !("message_id" in answer)) return false;
  return String(answer.message_id) === messageId;
}
