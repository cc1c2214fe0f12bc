import { z } from "zod";
import { hashContent } from "../text/split/index.ts";

/**
 * A post that a platform finds by its key or in a list, as it is stored before it leaves.
 *
 * - `since`: the first post with this key began, in epoch milliseconds
 * - `hash`: of the content; undefined if posts with this key had different ones
 * - `words`: of all texts that were posted with this key, hashed
 * - `isRepeated`: there was more than one post, so a refusal of one of them does not tell about the others
 */
export const keyedPostSchema = z.object({
  key: z.string(),
  since: z.number(),
  hash: z.string().optional(),
  words: z.array(z.string()).readonly(),
  isRepeated: z.boolean().optional(),
});

export type KeyedPost = Readonly<z.infer<typeof keyedPostSchema>>;

/** A post that is about to leave. */
interface LeavingPost {
  /** Hash of its content. */
  readonly hash: string;
  readonly text: string;
}

const KEY_LENGTH = 24;

/** Returns the post of a new message. `id` is an id of `Deps`. */
export function newKeyedPost(id: string, since: number, { hash, text }: LeavingPost): KeyedPost {
  const key = id
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .slice(-KEY_LENGTH);
  return { key, since, hash, words: [wordsOf(text)] };
}

/** Returns a post that is made again with its key, because its outcome is not known. A search then finds both. */
export function repeatedPost(earlier: KeyedPost, { hash, text }: LeavingPost): KeyedPost {
  const { key, since, words } = earlier;
  const all = [...new Set([...words, wordsOf(text)])];
  return { key, since, ...(earlier.hash === hash && { hash }), words: all, isRepeated: true };
}

/** Returns a hash of a text that is the same when a platform writes its markup in another way. */
export function wordsOf(text: string): string {
  const words = text.normalize("NFC").replaceAll(/[^\p{L}\p{N}]+/gu, "");
  return hashContent(words === "" ? text.trim() : words);
}
