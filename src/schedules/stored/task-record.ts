import type { CheckedTask } from "../rules/check-tasks.ts";
import type { StoredTask } from "./schedule-store.ts";

/** A scheduled task of one object, as `schedules.list()` returns it. */
export interface ScheduledTaskRecord {
  readonly taskId: string;
  readonly kind: "prompt" | "handler" | "reminder";
  /** The prompt, or the text of a reminder. */
  readonly text?: string;
  readonly schedule: string;
  /** Undefined for schedules that are the same everywhere. */
  readonly timezone?: string;
  /** Whether somebody has made it in a chat. The others are declared in `getScheduledTasks()`. */
  readonly isMadeInChat: boolean;
  /** The person who has made it. */
  readonly madeBy?: string;
  readonly isPaused: boolean;
  /** Number of failed occurrences in a row. */
  readonly failures: number;
  /** The next occurrences, at most three, in epoch milliseconds. None while it is paused. */
  readonly next: readonly number[];
}

/** Returns a task as the bot's own code sees it. */
export function taskRecord(
  { id, schedule, work, zone }: CheckedTask,
  stored: StoredTask | undefined,
  next: readonly number[],
): Omit<ScheduledTaskRecord, "isMadeInChat" | "madeBy"> {
  const isPaused = stored?.isPaused === true;
  return {
    taskId: id,
    kind: work.kind,
    ...(work.kind === "prompt" && { text: work.prompt }),
    ...(work.kind === "reminder" && { text: work.text }),
    schedule,
    ...(zone !== undefined && { timezone: zone }),
    isPaused,
    failures: stored?.failures ?? 0,
    next: isPaused ? [] : next,
  };
}
