import type { Amount } from "../text/amount.ts";

/** The calls that a grant covers, as an action says it about one input. */
export interface GrantScope {
  /** Calls of the action with an equal text are covered: `"up to 100"`, `"customer:42"`. */
  readonly scope: string;
  /** The calls in words, for the person who decides: "Refunds up to 100 €". */
  readonly words: string;
  /** Whether it also covers calls of high risk, and of a destructive action. @default false */
  readonly evenHighRisk?: boolean;
  /** The number of calls that the grant covers in all, at least 1. @default any number */
  readonly calls?: number;
  /** The sum of the covered calls, which say their own with the action's `amount`. @default any sum */
  readonly sum?: Amount;
  /**
   * Name of a budget that grants of this action share in all chats: `refunds 2026-11`. `calls` and `sum` then count what
   * all of them have used. @default a budget for each grant
   */
  readonly budget?: string;
}
