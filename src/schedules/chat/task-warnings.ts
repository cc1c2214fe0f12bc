import { TASK_FAILS, WORKS } from "../../core/chat/figures.ts";
import type { Note } from "../../core/chat/figures.ts";
import { MOST_FAILURES } from "../runs/after-end.ts";
import type { OccurrenceFilter, OccurrenceRecord } from "../rules/occurrence.ts";
import type { ScheduledTaskRecord } from "../stored/task-record.ts";
import type { HealthWarning } from "../../messengers/root/health/health-problem.ts";

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
        ? `It is paused. After the repair press Resume on its owner's card, or call schedules.resume("${taskId}") at the root.`
        : "It runs again as planned.";
      return {
        code: "scheduled-task-failing",
        message: `The scheduled task "${taskId}" failed ${failures} times in a row, the last time with the code ${last?.code ?? "unknown"}; the log says more. ${next}`,
      };
    });
}

/** Returns a warning for each declared task that has kept failing in conversations since the start of the process. */
export function conversationWarnings(notes: ReadonlyMap<string, Note>): HealthWarning[] {
  const failing = new Map<string, Note[]>();
  for (const [name, note] of notes) {
    if (!name.startsWith(TASK_FAILS) || note.code === WORKS) continue;
    const taskId = name.slice(TASK_FAILS.length).split(" ", 1)[0] ?? "";
    failing.set(taskId, [...(failing.get(taskId) ?? []), note]);
  }
  return [...failing].map(([taskId, found]) => {
    const { code } = found.reduce((last, note) => (note.at > last.at ? note : last));
    const where = found.length === 1 ? "one conversation" : `${found.length} conversations`;
    return {
      code: "scheduled-task-failing",
      message: `The scheduled task "${taskId}" failed ${MOST_FAILURES} times in a row or more in ${where}, the last time with the code ${code}; the log says where.`,
    };
  });
}
