/** A question to people that a turn has asked, as those see it who follow the run of a schedule. */
export interface RunQuestion {
  /** `waiting`: for people. `open`: decided, but its outcome is not stored yet. */
  readonly state: "waiting" | "open" | "over";
  /** How it ended otherwise than with the action. */
  readonly ending: string | undefined;
  /** The idempotency key of the turn that tells its outcome. */
  readonly outcomeKey: string;
}

/** The questions of one conversation. */
export interface RunQuestions {
  /** Returns the questions of a turn, oldest first. */
  ofTurn(turnId: string): readonly RunQuestion[];
  /** Returns the first turn of the run in which something was asked, by the approval's id. */
  rootOf(approvalId: string): string | undefined;
  /** Takes back the undecided questions of a run. */
  dropRun(turnId: string): void;
}
