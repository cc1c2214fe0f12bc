import type { Address } from "./surface.ts";

/**
 * Something that the bot does to a message that is there already. Each says how the message shall be in the end, so it
 * does no harm twice, except for an `unpin` without a message.
 */
export type Mark =
  /** The bot's own reaction. Without an emoji it is taken back. */
  | { readonly kind: "reaction"; readonly messageId: string; readonly emoji?: string | undefined }
  /** Nobody is notified. */
  | { readonly kind: "pin"; readonly messageId: string }
  /** Without a message, the one that was pinned last. */
  | { readonly kind: "unpin"; readonly messageId?: string | undefined };

export interface MarkStart {
  /** The same id again means the same mark. */
  readonly id: string;
  readonly address: Address;
  readonly mark: Mark;
}

/** `withdrawn`: a later reaction to the same message took its place before it was sent. */
export type MarkState = "final" | "delivered" | "gone" | "failed" | "withdrawn";
