import type { Say } from "../../core/text/bot-texts.ts";

/** Facts that a card shows in addition to the approval itself. */
export interface CardView {
  /** The people who may decide, in words. */
  readonly approvers: string;
  /** Whether the people who may decide do not read this chat. @default false */
  readonly areApproversAway?: boolean;
  /** @default in English */
  readonly say?: Say;
  /** Writes a moment for the people of the chat. */
  readonly time: (epochMs: number) => string;
  /**
   * - `here`: asks in the chat of the request
   * - `elsewhere`: asks in another chat
   * - `status`: shows the state in the chat of the request, while people are asked elsewhere
   *
   * @default "here"
   */
  readonly role?: CardRole;
  /** @default "first" */
  readonly face?: CardFace;
  /** Characters that one message of the platform has. @default 4096 */
  readonly messageLength?: number;
}

/** See `CardView.role`. */
export type CardRole = "here" | "elsewhere" | "status";

/**
 * The side of a card that is shown while it asks.
 *
 * - `first`: all that a decision needs, and the buttons that decide
 * - `more`: the same, and everything else that is known and possible
 * - `hand`: the same as `more`, and below it the people to whom it can be handed over
 */
export type CardFace = "first" | "more" | "hand";
