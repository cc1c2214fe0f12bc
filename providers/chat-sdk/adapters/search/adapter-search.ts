import type { Adapter } from "chat";
import type { LostPost, PostedMessage } from "../../../../src/core/chat/surface.ts";

/** Finds lost posts of one platform (`PostSearch`). */
export interface AdapterSearch {
  /** Time for which the platform takes no second message with the same key, in milliseconds. @default 0 */
  readonly repeatableForMs?: number;
  /** Makes the adapter send `postKey()` with each post. Called once, before the first call. */
  readonly keyPosts?: (adapter: Adapter) => void;
  /** Reads the posts that a webhook reports, from its JSON, for a platform that reports their keys. */
  readonly readReported?: (body: unknown) => readonly { readonly key: string; readonly messageId: string }[];
  /**
   * Makes one call.
   * @param reported returns the id of the message that webhooks have reported for a key
   */
  readonly find: (
    adapter: Adapter,
    threadId: string,
    lost: LostPost,
    reported: (key: string) => Promise<string | undefined>,
  ) => Promise<readonly PostedMessage[] | "undecided">;
}

/** The clocks of the bot and of the platform may differ by this much, in milliseconds. */
export const CLOCKS_DIFFER_MS = 60_000;
/** Most messages that one call lists. */
export const PAGE_SIZE = 100;

/** Returns what a list of messages tells. `isWhole`: there are no more messages in that time. */
export function foundIn(ids: readonly string[], isWhole: boolean): readonly PostedMessage[] | "undecided" {
  return ids.length > 0 || isWhole ? ids.map((messageId) => ({ messageId })) : "undecided";
}
