/** Why the bot cannot answer messages now. */
export interface HealthProblem {
  /** `misconfigured`: its owner has to change something. `unavailable`: its machine has to. */
  readonly status: "misconfigured" | "unavailable";
  readonly code: string;
  /** What to do; words of ours only. */
  readonly message: string;
}
