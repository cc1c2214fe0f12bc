import { FAILS_OFTEN } from "../../core/chat/figures.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import type { Occurrence, OwnerNews } from "../rules/occurrence.ts";
import type { StoredTask } from "../stored/schedule-store.ts";
import type { OccurrenceEnd } from "./step-result.ts";

/** A prompt that failed so often in a row pauses itself if its owner can be told. Any other task goes on. */
export const MOST_FAILURES = FAILS_OFTEN;

/**
 * The task after the end of an occurrence, and the message that its owner gets. The task pauses later, when its owner was
 * told: see `Schedules`.
 *
 * @param declared undefined if it was removed meanwhile
 */
export function afterEnd(
  stored: StoredTask,
  { sourceHash }: Pick<Occurrence, "sourceHash">,
  { isGone = false, state }: OccurrenceEnd,
  declared: CheckedTask | undefined,
): { readonly task?: StoredTask; readonly news?: OwnerNews } {
  if (state === "skipped") return {};
  // Somebody who has blocked the bot could not read that a schedule has failed or paused itself.
  if (isGone && declared?.requester !== undefined) return {};
  if (state !== "failed") {
    const task = { ...stored, failures: 0, sourceHash: sourceHash ?? stored.sourceHash };
    return stored.failures === 0 ? { task } : { task, news: "recovered" };
  }
  const failures = stored.failures + 1;
  const task = { ...stored, failures };
  if (failures >= MOST_FAILURES && !stored.isPaused && mayPause(declared)) return { task, news: "paused" };
  return failures === 1 ? { task, news: "failing" } : { task };
}

/** The bot's own code has to run. A task that nobody could resume goes on, too. */
function mayPause(task: CheckedTask | undefined): boolean {
  if (task === undefined || task.work.kind === "handler") return false;
  return task.owner !== undefined || task.scope === "conversation";
}
