import type { Adapter } from "chat";
import type { LostPost, PostedMessage } from "../../../../src/core/surface.ts";

/** Finds lost posts of one platform (`PostSearch`). */
export interface AdapterSearch {
  /** Time for which the platform takes no second message with the same key, in milliseconds. @default 0 */
  readonly repeatableForMs?: number;
  /** Makes the adapter send `postKey()` with each post. Called once, before the first call. */
  readonly keyPosts?: (adapter: Adapter) => void;
  /** Makes one call. */
  readonly find: (
    adapter: Adapter,
    threadId: string,
    lost: LostPost,
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
