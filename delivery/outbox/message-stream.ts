import type { RichText } from "../../src/core/rich-text.ts";

/**
 * A message that is, or was, streamed into. Only in memory: of a message that an earlier process has begun it is not
 * known whether its stream has ended, so it is ended (again) before the message is edited.
 */
export interface MessageStream {
  readonly state: "open" | "ended";
  /** What was added so far. */
  readonly content: RichText;
}
