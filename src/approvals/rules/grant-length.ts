import type { Say, TextName } from "../../core/text/bot-texts.ts";

/**
 * How long a grant holds: for the request that asked, for an hour, until somebody ends it, or for one schedule until that
 * is changed.
 */
export type GrantLength = "request" | "hour" | "always" | "schedule";

const WORDS = {
  request: "grantForRequest",
  hour: "grantForAnHour",
  always: "grantAlways",
  schedule: "grantForSchedule",
} as const satisfies Record<GrantLength, TextName>;

export function lengthWords(length: GrantLength, say: Say): string {
  return say(WORDS[length]);
}

const OF_PEOPLE: readonly GrantLength[] = ["request", "hour", "always"];
const OF_SCHEDULES: readonly GrantLength[] = ["schedule"];

/** The lengths that a question can offer. */
export function lengthsFor({ schedule }: { readonly schedule?: unknown }): readonly GrantLength[] {
  return schedule === undefined ? OF_PEOPLE : OF_SCHEDULES;
}
