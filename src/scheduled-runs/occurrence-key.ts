/** Whether somebody has asked for this occurrence, beside the schedule. */
export function isAskedFor(key: string): boolean {
  return key.includes("!");
}

/** Returns the key of the occurrence that a schedule names. */
export function occurrenceKey(taskId: string, scheduledFor: number): string {
  return `${taskId}@${new Date(scheduledFor).toISOString().replace(".000Z", "Z")}`;
}
