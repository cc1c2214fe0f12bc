export type CallMethod = "post" | "edit" | "remove" | "typing" | "answer" | "find";

/** Facts about a call that failed. */
export interface FailedCall {
  readonly method: CallMethod;
  /** Whether the call concerned a thread inside a chat. */
  readonly isInThread: boolean;
  /** Time of the failure, in epoch milliseconds. */
  readonly now: number;
}
