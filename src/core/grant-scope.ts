/** The calls that a grant covers, as an action says it about one input. */
export interface GrantScope {
  /** Calls of the action with an equal text are covered: `"up to 100"`, `"customer:42"`. */
  readonly scope: string;
  /** The calls in words, for the person who decides: "Refunds up to 100 €". */
  readonly words: string;
  /** Whether it also covers calls of high risk, and of a destructive action. @default false */
  readonly evenHighRisk?: boolean;
}
