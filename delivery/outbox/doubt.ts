import { z } from "zod";

/**
 * What is known of a post while it is not known whether it was made, where it can be found out. Stored with its row.
 *
 * - `posting`: the call is under way; found after a crash, it is lost
 * - `landing`: its answer was lost, and it may still be made until `landsBy`
 * - `searching`: it cannot be made any more; the ids from `afterId` to `beforeId` are asked about, one call each
 * - `unresolved`: nobody can tell; the policy decides
 *
 * `afterId` is the newest id of the box that was known when the post began. Times are epoch milliseconds.
 */
const doubtSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("posting"), afterId: z.int(), landsBy: z.number() }),
  z.object({ kind: z.literal("landing"), afterId: z.int(), landsBy: z.number() }),
  z.object({
    kind: z.literal("searching"),
    afterId: z.int(),
    beforeId: z.int(),
    asked: z.array(z.int()).readonly(),
  }),
  z.object({ kind: z.literal("unresolved") }),
]);

export type Doubt = Readonly<z.infer<typeof doubtSchema>>;
export type Searching = Extract<Doubt, { kind: "searching" }>;

/**
 * - `begin`: a post is about to leave
 * - `answered`: the platform said what became of it, in time or late
 * - `lost`: the call ended without an answer, or with the process
 * - `settled`: it cannot land any more
 * - `asked`: one id was asked about, and is not the lost message
 * - `found`: the message is there
 * - `not-found`: no id is it: the post was not made
 * - `undecided`: it cannot be found out
 */
export type DoubtEvent =
  | "begin"
  | "answered"
  | "lost"
  | "settled"
  | "asked"
  | "found"
  | "not-found"
  | "undecided";

export type DoubtKind = Doubt["kind"] | "none";

/** The one place that says how a doubt changes. What is not in the table is a defect of the engine. */
export const DOUBT_TRANSITIONS: Readonly<
  Record<DoubtKind, Readonly<Partial<Record<DoubtEvent, DoubtKind>>>>
> = {
  none: { begin: "posting", answered: "none" },
  posting: { answered: "none", lost: "landing" },
  landing: { answered: "none", found: "none", settled: "searching", undecided: "unresolved" },
  searching: {
    answered: "none",
    asked: "searching",
    found: "none",
    "not-found": "none",
    undecided: "unresolved",
  },
  unresolved: { answered: "none", begin: "posting" },
};

/** The doubt after an event: `to`, if the table allows it. */
export function nextDoubt(from: Doubt | undefined, event: DoubtEvent, to?: Doubt): Doubt | undefined {
  const fromKind = from?.kind ?? "none";
  const toKind = to?.kind ?? "none";
  if (DOUBT_TRANSITIONS[fromKind][event] === toKind) return to;
  throw new TypeError(`A doubt that is ${fromKind} cannot become ${toKind} by "${event}".`);
}

/** The doubt when the platform has said what became of the post. */
export function answered(doubt: Doubt | undefined): undefined {
  nextDoubt(doubt, "answered");
}

export function parseDoubt(json: string): Doubt {
  return doubtSchema.parse(JSON.parse(json));
}

/** Whether a search may still find out what became of the post. */
export function isSearchable(
  doubt: Doubt | undefined,
): doubt is Extract<Doubt, { kind: "landing" | "searching" }> {
  return doubt?.kind === "landing" || doubt?.kind === "searching";
}
