/** Writes of all objects of a bot since the last request. */
export interface RowsWritten {
  readonly rows: number;
  /** Each is billed as a row, but not counted in `rows`. */
  readonly alarms: number;
}
