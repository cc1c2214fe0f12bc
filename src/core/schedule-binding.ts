/** A schedule at one revision of it. Plain JSON. */
export interface ScheduleBinding {
  /** Name of the conversation that keeps the schedule. `""`: the root. */
  readonly keeper: string;
  readonly taskId: string;
  /** Changes when the schedule, its prompt or its targets change. */
  readonly revision: string;
}

/** Whether both are the same schedule, at any revision. */
export function isSameSchedule(one: ScheduleBinding, other: ScheduleBinding | undefined): boolean {
  return one.taskId === other?.taskId && one.keeper === other.keeper;
}
