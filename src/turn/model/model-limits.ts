/** Time limits of one model call. Absent ones are the bot's. */
export interface ModelLimits {
  /** Longest silence in the middle of the answer, in milliseconds; 0 for no limit. */
  readonly stallTimeoutMs?: number;
  /** Longest silence before the answer begins, in milliseconds; 0 for no limit. */
  readonly firstChunkTimeoutMs?: number;
  /** When the call must have ended, with all its retries, in epoch milliseconds. @default never */
  readonly endsAt?: number;
}
