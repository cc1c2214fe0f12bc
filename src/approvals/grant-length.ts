/**
 * How long a grant holds: for the request that asked, for an hour, until somebody ends it, or for one schedule until that
 * is changed.
 */
export type GrantLength = "request" | "hour" | "always" | "schedule";

/** The lengths in words. */
export const LENGTH_WORDS = {
  request: "for this request",
  hour: "for an hour",
  always: "always",
  schedule: "whenever this schedule runs",
} as const satisfies Record<GrantLength, string>;

const OF_PEOPLE: readonly GrantLength[] = ["request", "hour", "always"];
const OF_SCHEDULES: readonly GrantLength[] = ["schedule"];

/** The lengths that a question can offer. */
export function lengthsFor({ schedule }: { readonly schedule?: unknown }): readonly GrantLength[] {
  return schedule === undefined ? OF_PEOPLE : OF_SCHEDULES;
}
