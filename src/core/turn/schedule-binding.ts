/** A schedule at one revision of it. Plain JSON. */
export interface ScheduleBinding {
  /** Name of the conversation that keeps the schedule. `""`: the root. */
  readonly keeper: string;
  readonly taskId: string;
  /** Changes when the schedule, its prompt or its targets change. */
  readonly revision: string;
  /** The agent that works for the keeper, as people know it. Undefined: it is a schedule, and no agent's run. */
  readonly agent?: string | undefined;
  /** Whether the agent asks people by itself in their chats, and not its keeper for it. */
  readonly asksItself?: boolean | undefined;
}

/** Whether both are the same schedule, at any revision. */
export function isSameSchedule(one: ScheduleBinding, other: ScheduleBinding | undefined): boolean {
  return one.taskId === other?.taskId && one.keeper === other.keeper;
}
