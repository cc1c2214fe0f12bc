import type { RichText } from "../../src/core/rich-text.ts";

/**
 * A message that is streamed into, or was. Kept in memory only. If an earlier process began the stream, its state is
 * not known, so the stream is ended (again) before the message is edited.
 */
export interface MessageStream {
  readonly state: "open" | "ended";
  /** The text that was added so far. */
  readonly content: RichText;
}
