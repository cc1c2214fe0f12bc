import type { CheckedTask } from "./check-tasks.ts";
import type { Occurrence } from "./occurrence.ts";
import type { ScheduledOccurrence } from "./scheduled-task.ts";

/** Handlers and `source()` may take this long. */
export const HANDLER_LIMIT_MS = 15 * 60_000;

/** An occurrence as the bot's code gets it. */
export function occurrenceFor(
  name: string,
  { key, scheduledFor }: Occurrence,
  task: CheckedTask,
): ScheduledOccurrence {
  return {
    taskId: task.id,
    scheduledFor,
    scheduledForDate: new Date(scheduledFor),
    occurrenceKey: key,
    idempotencyKey: `${name}:${key}`,
    schedule: task.schedule,
    scheduleKind: task.kind,
    timezone: task.zone,
    metadata: task.metadata,
  };
}
