import type { CheckedTask, Work } from "../rules/check-tasks.ts";
import { newLeg } from "./advance-leg.ts";
import { lookAgain } from "./look-again.ts";
import type { Leg, Occurrence } from "../rules/occurrence.ts";
import type { OccurrenceHost } from "./occurrence-host.ts";
import { ended } from "./step-result.ts";
import type { StepResult } from "./step-result.ts";

/** Posts the card of a reminder, and waits until it is visible. */
export async function runReminder(
  host: OccurrenceHost,
  occurrence: Occurrence,
  task: CheckedTask,
  { address }: Extract<Work, { kind: "reminder" }>,
): Promise<StepResult> {
  const now = host.clock.now();
  const id = `reminder:${occurrence.key}`;
  const leg: Leg = { ...newLeg(occurrence, 1, 0), submissionId: id, address };
  if (occurrence.state === "due") {
    const target = { conversation: "", address };
    const running: Occurrence = {
      ...occurrence,
      state: "running",
      startedAt: now,
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
