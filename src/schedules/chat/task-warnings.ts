import { MOST_FAILURES } from "../runs/after-end.ts";
import type { OccurrenceFilter, OccurrenceRecord } from "../rules/occurrence.ts";
import type { ScheduledTaskRecord } from "../stored/task-record.ts";
import type { HealthWarning } from "../../messengers/root/health-problem.ts";

/** The scheduled tasks of the root, as `/health` looks at them. */
export interface WatchedTasks {
  tasks(): readonly ScheduledTaskRecord[];
  list(filter: OccurrenceFilter): readonly OccurrenceRecord[];
}

/** Returns a warning for each declared task that keeps failing. */
export function taskWarnings(schedules: WatchedTasks): HealthWarning[] {
  return schedules
    .tasks()
    .filter(({ failures, isMadeInChat }) => failures >= MOST_FAILURES && !isMadeInChat)
    .map(({ failures, isPaused, taskId }) => {
      const [last] = schedules.list({ taskId, state: "failed", limit: 1 });
      const next = isPaused
        ? `It is paused. After the repair press Resume on its owner's card, or call resumeScheduledTask("${taskId}") at the root.`
        : "It runs again as planned.";
      return {
        code: "scheduled-task-failing",
        message: `The scheduled task "${taskId}" failed ${failures} times in a row, the last time with the code ${last?.code ?? "unknown"}; the log says more. ${next}`,
      };
    });
}
