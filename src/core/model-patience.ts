/** A model call that failed before the model had said anything, for a reason that passes by itself. */
export interface PassingFailure {
  readonly code: string;
  /** When the call began, in epoch milliseconds. */
  readonly beganAt: number;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** How long one turn goes on asking a model that cannot answer now. Belongs to one model call, retries included. */
export interface Patience {
  /** How long to wait before the call is made again, in milliseconds; `undefined` when the turn has waited enough. */
  next(failure: PassingFailure): number | undefined;
  /** The model began to answer, or nobody asks it any more. Must be called once, whether it ever failed or not. */
  end(): void;
}
