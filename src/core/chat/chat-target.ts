import type { ContentOptions } from "../message/content.ts";
import type { Address } from "./surface.ts";

/**
 * Destination of a message, as bot code names it.
 *
 * - A string: the conversation of this name, as `conversation` and `subAgent()` use it. It stands for the chat in which
 *   that conversation was last written to.
 * - `conversation`: the conversation with this name in `listConversations()`.
 * - `chatId`: a chat, or one topic of it. An id from before the chat moved is valid, too.
 * - `userId`: the private chat of a person, if the person has opened one.
 */
export type ChatTarget =
  | string
  | { readonly conversation: string }
  | { readonly messenger: string; readonly chatId: string; readonly topicId?: string }
  | { readonly messenger: string; readonly userId: string };

/**
 * Result of looking for a target. A refusal is plain data, because the class of an error does not survive the way from
 * one object to another.
 */
export type Resolution =
  | { readonly kind: "found"; readonly address: Address }
  | {
      readonly kind: "refused";
      readonly code: TargetProblem;
      readonly message: string;
      /** Whether the bot could write there once, and cannot any more. */
      readonly isGone?: boolean;
    };

/**
 * - `target-invalid`: not a target, or a topic on a platform without topics
 * - `messenger-unknown`: the bot declares no such messenger
 * - `chat-unknown`: the bot was never seen there
 * - `chat-gone`: the bot was blocked or removed there, or the chat is deleted
 * - `window-closed`: the person has not written for too long (WhatsApp: 24 hours), and a message was refused for it
 * - `person-not-reachable`: the person has opened no private chat, or has blocked the bot
 */
export type TargetProblem =
  | "target-invalid"
  | "messenger-unknown"
  | "chat-unknown"
  | "chat-gone"
  | "window-closed"
  | "person-not-reachable";

export interface SayOptions extends ContentOptions {
  /**
   * Makes a call repeatable. A second call of the same object with this key sends nothing and returns the same id, also
   * after a crash, for as long as the receipt is kept. 1 to 200 characters.
   */
  readonly idempotencyKey?: string;
}
