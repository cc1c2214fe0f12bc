import type { Markup } from "./markup.ts";
import type { MessageBlock } from "./message-block.ts";
import type { LengthUnit } from "../text/text-length.ts";

/**
 * Text as a platform receives it. Offsets and lengths count UTF-16 code units, as the Bot API's `MessageEntity` does
 * (https://core.telegram.org/bots/api#messageentity). Platforms that take markup instead of entities get `text` only.
 */
export interface RichText {
  readonly text: string;
  readonly entities: readonly TextEntity[];
  /**
   * Set for a rich message, which shows these blocks. `text` then has their words, with plain signs for elements that
   * only blocks can show, and there are no entities.
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

/**
 * The text format of a platform.
 *
 * - `telegram-entities`: text with entities. Lengths count UTF-16 units.
 * - `plain`: text without formatting.
 * - a `Markup`: formatting is written into the text.
 */
export type TextFormat = "telegram-entities" | "plain" | Markup;

/** Limits of a platform for one message, counted as the platform counts. */
export interface TextLimits {
  /** Longest text of one message. Telegram: 4096 UTF-16 units after entity parsing. */
  readonly maxLength: number;
  /** Unit of `maxLength`. @default "utf16" */
  readonly unit?: LengthUnit | undefined;
  /**
   * Most entities of one message, or most blocks of a rich one. `Infinity` if there is no limit. Telegram: 100
   * entities, 500 blocks.
   */
  readonly maxEntities: number;
}
