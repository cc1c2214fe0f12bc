import type { CheckedTask } from "../rules/check-tasks.ts";
import { beginPrompt } from "./begin-prompt.ts";
import { continuePrompt } from "./continue-prompt.ts";
import type { Occurrence } from "../rules/occurrence.ts";
import type { OccurrenceHost } from "./occurrence-host.ts";
import { runHandler } from "./run-handler.ts";
import { runReminder } from "./run-reminder.ts";
import type { StoredTask } from "../stored/schedule-store.ts";
import type { StepResult } from "./step-result.ts";

/** Does the next step of an occurrence. Each step can be made again after a crash. */
export async function runOccurrence(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  stored: StoredTask,
): Promise<StepResult> {
  const { work } = task;
  if (work.kind === "handler") return runHandler(host, occurrence, task, work);
  if (work.kind === "reminder") return runReminder(host, occurrence, task, work);
  if (occurrence.state === "due") return beginPrompt(host, occurrence, task, work, stored);
  return continuePrompt(host, occurrence, task);
}
