import type { Clock } from "../../core/base/deps.ts";
import { restAfter } from "../../core/base/rest-after.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import { usageOf } from "../rules/occurrence.ts";
import type { Occurrence, OccurrenceState } from "../rules/occurrence.ts";

/** The occurrence after a step: it continues at `nextAt`, or has ended. */
export type StepResult =
  | { readonly kind: "continues"; readonly occurrence: Occurrence }
  | { readonly kind: "ended"; readonly occurrence: Occurrence; readonly end: OccurrenceEnd };

/** Codes of occurrences that a limit of the day has skipped. */
export const LIMIT_CODES = ["token-limit", "cost-limit"] as const;
export type LimitCode = (typeof LIMIT_CODES)[number];

/** Code of occurrences that were skipped because there was no chat for them. */
export const NO_TARGETS = "no-targets";

export interface OccurrenceEnd {
  readonly state: Extract<OccurrenceState, "delivered" | "done" | "failed" | "skipped" | "no-change">;
  readonly code?: string | undefined;
  /** Whether it failed because its chat accepts nothing any more. */
  readonly isGone?: boolean | undefined;
}

const RETRY_AFTER_MS = 2000;
const RETRY_MOST_MS = 5 * 60_000;

export function ended(occurrence: Occurrence, end: OccurrenceEnd): StepResult {
  return { kind: "ended", occurrence, end };
}

/** Tries an occurrence again later, or ends it as failed after its last try. */
export function retried(
  { clock }: { readonly clock: Clock },
  occurrence: Occurrence,
  task: CheckedTask,
  code: string,
): StepResult {
  if (occurrence.attempts >= task.maxAttempts) return ended(occurrence, { state: "failed", code });
  const restMs = restAfter(occurrence.attempts, RETRY_AFTER_MS, RETRY_MOST_MS);
  // A handler goes on as it is; a prompt begins again.
  const state = task.work.kind === "handler" ? "running" : "due";
  const nextAt = clock.now() + restMs;
  const spent = usageOf(occurrence);
  return {
    kind: "continues",
    occurrence: { ...occurrence, state, code, legs: [], spent, text: undefined, nextAt },
  };
}
