/** What all objects of a bot have written since it was asked the last time. */
export interface RowsWritten {
  readonly rows: number;
  /** Each is billed as a row, and is not among `rows`. */
  readonly alarms: number;
}
