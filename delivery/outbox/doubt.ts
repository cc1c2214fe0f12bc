import { z } from "zod";
import { keyedPostSchema } from "./keyed-post.ts";
import type { KeyedPost } from "./keyed-post.ts";

/**
 * The state of a post that may or may not have been made, on a platform where lost posts can be searched for. Stored
 * with the post's row.
 *
 * - `posting`: the call is under way; if a new process finds this, the post is lost
 * - `landing`: its answer was lost, and it may still be made until `landsBy`
 * - `searching`: it can no longer be made; the ids from `afterId` to `beforeId` are checked, one call each
 * - `unresolved`: the search cannot tell; the policy decides
 *
 * Posts with a key (`post`) need no `searching`: one call tells. Otherwise `afterId` is the newest id of the box that was
 * known when the post began. `landsBy` of a search is missing in rows of an
 * earlier release. Times are epoch milliseconds.
 */
const doubtSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("posting"),
    afterId: z.int(),
    landsBy: z.number(),
    post: keyedPostSchema.optional(),
  }),
  z.object({
    kind: z.literal("landing"),
    afterId: z.int(),
    landsBy: z.number(),
    post: keyedPostSchema.optional(),
  }),
  z.object({
    kind: z.literal("searching"),
    afterId: z.int(),
    beforeId: z.int(),
    asked: z.array(z.int()).readonly(),
    landsBy: z.number().optional(),
  }),
  z.object({ kind: z.literal("unresolved"), post: keyedPostSchema.optional() }),
]);

export type Doubt = Readonly<z.infer<typeof doubtSchema>>;
export type Searchable = Extract<Doubt, { kind: "landing" | "searching" }>;
export type Searching = Extract<Doubt, { kind: "searching" }>;

/**
 * Events that change a doubt.
 *
 * - `begin`: a post is about to leave
 * - `answered`: the outcome is known: the platform told it, in time or late, or a search or a press showed the message
 * - `lost`: the call ended without an answer, or with the process
 * - `settled`: the post cannot land any more
 * - `asked`: one id was checked, and is not the lost message; or the post is made again with its key
 * - `not-found`: no id belongs to it, so the post was not made
 * - `undecided`: the search cannot tell
 */
export type DoubtEvent = "begin" | "answered" | "lost" | "settled" | "asked" | "not-found" | "undecided";

export type DoubtKind = Doubt["kind"] | "none";

/** All transitions of a doubt. Any other transition is a defect of the engine. */
export const DOUBT_TRANSITIONS: Readonly<
  Record<DoubtKind, Readonly<Partial<Record<DoubtEvent, DoubtKind>>>>
> = {
  none: { begin: "posting", answered: "none" },
  posting: { answered: "none", lost: "landing" },
  landing: {
    answered: "none",
    // A post with the same key, which makes no second message.
    asked: "landing",
    "not-found": "none",
    settled: "searching",
    undecided: "unresolved",
  },
  searching: {
    answered: "none",
    asked: "searching",
    "not-found": "none",
    undecided: "unresolved",
  },
  unresolved: { answered: "none", begin: "posting" },
};

/** Returns the doubt after an event: `to`, if the table allows it. */
export function nextDoubt(from: Doubt | undefined, event: DoubtEvent, to?: Doubt): Doubt | undefined {
  const fromKind = from?.kind ?? "none";
  const toKind = to?.kind ?? "none";
  if (DOUBT_TRANSITIONS[fromKind][event] === toKind) return to;
  throw new TypeError(`A doubt that is ${fromKind} cannot become ${toKind} by "${event}".`);
}

/** Returns the doubt after the platform has told the outcome: none. */
export function answered(doubt: Doubt | undefined): undefined {
  nextDoubt(doubt, "answered");
}

export function parseDoubt(json: string): Doubt {
  return doubtSchema.parse(JSON.parse(json));
}

/** Returns the doubt of a post about which nothing can be found out now. Its key stays for a later search. */
export function unresolved(doubt: Doubt | undefined): Doubt | undefined {
  const post = doubt === undefined || doubt.kind === "searching" ? undefined : doubt.post;
  return nextDoubt(doubt, "undecided", { kind: "unresolved", ...(post !== undefined && { post }) });
}

/** Tells whether the platform can be asked for the post by its key. */
export function isKeyed(
  doubt: Doubt | undefined,
): doubt is Extract<Doubt, { kind: "landing" }> & { readonly post: KeyedPost } {
  return doubt?.kind === "landing" && doubt.post !== undefined;
}

/** Tells whether a search may still find the post. */
export function isSearchable(doubt: Doubt | undefined): doubt is Searchable {
  return doubt?.kind === "landing" || doubt?.kind === "searching";
}
