import type { Occurrence, OccurrenceState } from "./occurrence.ts";

/** The occurrence after a step: it continues at `nextAt`, or has ended. */
export type StepResult =
  | { readonly kind: "continues"; readonly occurrence: Occurrence }
  | { readonly kind: "ended"; readonly occurrence: Occurrence; readonly end: OccurrenceEnd };

/** Codes of occurrences that a limit of the day has skipped. */
export const LIMIT_CODES = ["token-limit", "cost-limit"] as const;
export type LimitCode = (typeof LIMIT_CODES)[number];

export interface OccurrenceEnd {
  readonly state: Extract<OccurrenceState, "delivered" | "done" | "failed" | "skipped" | "no-change">;
  readonly code?: string | undefined;
  /** Whether it failed because its chat accepts nothing any more. */
  readonly isGone?: boolean | undefined;
}
