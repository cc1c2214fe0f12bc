/** The reason why the bot cannot answer messages now. */
export interface HealthProblem {
  /** `misconfigured`: the owner must change a setting. `unavailable`: the machine or its storage has a problem. */
  readonly status: "misconfigured" | "unavailable";
  readonly code: string;
  /** Tells what to do. Contains only our own words. */
  readonly message: string;
}

/** Something that may keep a bot from answering, or has kept it from answering lately. */
export interface HealthWarning {
  readonly code: string;
  /** Says what happened and what to do. Contains no text of a chat. */
  readonly message: string;
}
