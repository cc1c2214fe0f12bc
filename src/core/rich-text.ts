import type { MessageBlock } from "./message-block.ts";

/**
 * Text as a platform receives it. Offsets and lengths count UTF-16 code units, as the Bot API's `MessageEntity` does
 * (https://core.telegram.org/bots/api#messageentity). Platforms that take markup instead of entities get `text` only.
 */
export interface RichText {
  readonly text: string;
  readonly entities: readonly TextEntity[];
  /**
   * Set for a rich message: what is shown then. `text` holds its words with plain signs for what only blocks can show,
   * and there are no entities.
   */
  readonly blocks?: readonly MessageBlock[];
}

export type TextEntityType =
  | "bold"
  | "italic"
  | "underline"
  | "strikethrough"
  | "spoiler"
  | "blockquote"
  | "expandable_blockquote"
  | "code"
  | "pre"
  | "text_link";

export interface TextEntity {
  readonly type: TextEntityType;
  readonly offset: number;
  readonly length: number;
  /** The target of a `text_link`. */
  readonly url?: string;
  /** The language of a `pre`. */
  readonly language?: string;
}

/** How a platform wants its text: which renderer the delivery engine uses for it. */
export type TextFormat =
  | "telegram-entities"
  | "plain"
  | "slack-mrkdwn"
  | "discord-markdown"
  | "whatsapp"
  | "markdown";

/** A platform's limits for one message, in the platform's own way of counting. */
export interface TextLimits {
  /** Longest text of one message. Telegram: 4096 UTF-16 units after entity parsing. */
  readonly maxLength: number;
  /**
   * Most entities of one message, or most blocks of a rich one; `Infinity` where there is no such limit. Telegram: 100
   * entities, 500 blocks.
   */
  readonly maxEntities: number;
}
