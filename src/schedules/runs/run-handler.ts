import { logBotFailure } from "../../core/bot-code.ts";
import { errorCode } from "../../core/errors.ts";
import { withinTime } from "../../core/within-time.ts";
import type { CheckedTask, Work } from "../rules/check-tasks.ts";
import { HANDLER_LIMIT_MS, occurrenceFor } from "../rules/handler-context.ts";
import type { Occurrence } from "../rules/occurrence.ts";
import type { OccurrenceHost } from "./occurrence-host.ts";
import { ended, retried } from "./step-result.ts";
import type { StepResult } from "./step-result.ts";

/** A handler whose process died is started again, this often beyond its attempts. */
const MOST_INTERRUPTIONS = 3;

/** Runs the handler of a task. */
export async function runHandler(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  { handler }: Extract<Work, { kind: "handler" }>,
): Promise<StepResult> {
  const { clock, log, name } = host;
  if (occurrence.attempts >= task.maxAttempts + MOST_INTERRUPTIONS)
    return ended(occurrence, { state: "failed", code: "interrupted" });
  const running: Occurrence = {
    ...occurrence,
    state: "running",
    attempts: occurrence.attempts + 1,
    startedAt: occurrence.startedAt ?? clock.now(),
  };
  host.save(running);
  try {
    const context = occurrenceFor(name, running, task);
    await withinTime(clock, HANDLER_LIMIT_MS, Promise.resolve(handler(context)), "the handler");
    return ended(running, { state: "done" });
  } catch (error) {
    logBotFailure(log.with({ task: task.id, occurrence: running.key }), "handler", error);
    return retried(host, running, task, errorCode(error) ?? "handler-failed");
  }
}
