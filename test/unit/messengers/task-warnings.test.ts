import { expect, it } from "vitest";
import { TASK_FAILS, WORKS } from "../../../src/core/chat/figures.ts";
import { conversationWarnings, taskWarnings } from "../../../src/schedules/chat/task-warnings.ts";
import type { WatchedTasks } from "../../../src/schedules/chat/task-warnings.ts";

const TASK = {
  taskId: "digest",
  kind: "prompt",
  schedule: "every day at 09:00",
  isMadeInChat: false,
  isPaused: false,
  failures: 5,
  next: [],
} as const;

function watch(task: Partial<ReturnType<WatchedTasks["tasks"]>[number]>): WatchedTasks {
  return { tasks: () => [{ ...TASK, ...task }], list: () => [{ code: "turn-failed" } as never] };
}

it("names a task that failed five times in a row, with the code of the last failure", () => {
  expect(taskWarnings(watch({ failures: 7 }))).toEqual([
    {
      code: "scheduled-task-failing",
      message:
        'The scheduled task "digest" failed 7 times in a row, the last time with the code turn-failed; the log says more. It runs again as planned.',
    },
  ]);
});

it("tells how to resume a task that has paused itself", () => {
  expect(taskWarnings(watch({ isPaused: true }))[0]?.message).toContain('schedules.resume("digest")');
});

it("says nothing of fewer failures, and of schedules that people have made", () => {
  expect(taskWarnings(watch({ failures: 4 }))).toEqual([]);
  expect(taskWarnings(watch({ isMadeInChat: true }))).toEqual([]);
});

it("counts the conversations in which a task keeps failing, with the last code, and names none of them", () => {
  const notes = new Map([
    [`${TASK_FAILS}check-in thread:a`, { at: 2, code: "timed-out" }],
    [`${TASK_FAILS}check-in thread:b`, { at: 1, code: "bot-code-failed" }],
    [`${TASK_FAILS}check-in thread:c`, { at: 3, code: WORKS }],
    [`${TASK_FAILS}other thread:c`, { at: 3, code: WORKS }],
    ["penalty telegram 5", { at: 3, code: "penalty" }],
  ]);
  expect(conversationWarnings(notes)).toEqual([
    {
      code: "scheduled-task-failing",
      message:
        'The scheduled task "check-in" failed 5 times in a row or more in 2 conversations, the last time with the code timed-out; the log says where.',
    },
  ]);
});
