/** A model call that failed before the model's first word, for a temporary reason. */
export interface PassingFailure {
  readonly code: string;
  /** Start of the call, in epoch milliseconds. */
  readonly beganAt: number;
  /** Wait that the server asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;
}

/** Decides how long one turn keeps asking a busy model. Belongs to one model call, including its retries. */
export interface Patience {
  /** When the model must have begun to answer, in epoch milliseconds. Undefined for no limit. */
  readonly answersBy: number | undefined;
  /** Returns the wait before the next try, in milliseconds. Undefined if the turn has waited long enough. */
  next(failure: PassingFailure): number | undefined;
  /** Call it once when the model has begun to answer or the call is given up, even if it never failed. */
  end(): void;
}
