import type { PromptMetadata } from "../core/turn/turn-info.ts";

/** A question to people that a turn has asked, as those see it who follow the run of a schedule. */
export interface RunQuestion {
  /** `waiting`: for people. `open`: decided, but its outcome is not stored yet. */
  readonly state: "waiting" | "open" | "over";
  /** How it ended otherwise than with the action. */
  readonly ending: string | undefined;
  /** The idempotency key of the turn that tells its outcome. */
  readonly outcomeKey: string;
}

/** The id of a question, for those who answer it. */
export type AskedId = { readonly approvalId: string } | { readonly parkedId: string };

/** The questions of one conversation. */
export interface RunQuestions {
  /** Returns the questions of a turn, oldest first. */
  ofTurn(turnId: string): readonly RunQuestion[];
  /** Returns the oldest question of a turn, or of what people have agreed to in it, that waits for them. */
  waitingIn(turnId: string): AskedId | undefined;
  /** Returns the turn that has asked, or the first one of its run, by the metadata of the turn that tells the outcome. */
  askedBy(metadata: PromptMetadata): string | undefined;
  /** Takes back the undecided questions of a run. */
  dropRun(turnId: string): void;
}
