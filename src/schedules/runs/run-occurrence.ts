import { logBotFailure } from "../../core/time/bot-code.ts";
import { errorCode } from "../../core/base/errors.ts";
import { withinTime } from "../../core/time/within-time.ts";
import type { CheckedTask, Work } from "../rules/check-tasks.ts";
import { HANDLER_LIMIT_MS, occurrenceFor } from "../rules/handler-context.ts";
import type { Leg, Occurrence } from "../rules/occurrence.ts";
import type { StoredTask } from "../stored/schedule-store.ts";
import { newLeg } from "./advance-leg.ts";
import { beginPrompt } from "./begin-prompt.ts";
import { continuePrompt } from "./continue-prompt.ts";
import { lookAgain } from "./look-again.ts";
import type { OccurrenceHost } from "./occurrence-host.ts";
import { ended, retried, type StepResult } from "./step-result.ts";

/** A handler whose process died is started again, this often beyond its attempts. */
const MOST_INTERRUPTIONS = 3;

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

/** Runs the handler of a task. */
async function runHandler(
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

/** Posts the card of a reminder, and waits until it is visible. */
async function runReminder(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  { address }: Extract<Work, { kind: "reminder" }>,
): Promise<StepResult> {
  const id = `reminder:${occurrence.key}`;
  const leg: Leg = { ...newLeg(occurrence, 1, 0), submissionId: id, address };
  if (occurrence.state === "due") {
    const target = { conversation: "", address };
    const running: Occurrence = {
      ...occurrence,
      state: "running",
      startedAt: host.clock.now(),
      attempts: 1,
      targets: [target],
    };
    host.save({ ...running, legs: [leg] });
    host.remind(id, task, running);
    return lookAgain(host, { ...running, legs: [{ ...leg, state: "open" }] }, [leg], false);
  }
  // The process may have died before the card was stored.
  host.remind(id, task, occurrence);
  const { code, isGone, messageIds = [], state } = host.reportCard(id);
  if (state === "open" || state === "waiting") return lookAgain(host, occurrence, [leg], false);
  const isShown = state === "completed" && messageIds.length > 0;
  const legs: Leg[] = [{ ...leg, state: isShown ? "delivered" : "failed", code, messageIds }];
  return ended(
    { ...occurrence, legs },
    isShown ? { state: "delivered" } : { state: "failed", code: code ?? "not-delivered", isGone },
  );
}
