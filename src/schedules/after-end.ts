import type { Occurrence, OwnerNews } from "./occurrence.ts";
import type { StoredTask } from "./schedule-store.ts";
import type { OccurrenceEnd } from "./step-result.ts";

/** A task that failed so often in a row pauses itself. */
const PAUSE_AFTER = 5;

/**
 * The task after the end of an occurrence, and the message that its owner gets.
 *
 * @param isPersons whether a person has made the task in a chat
 */
export function afterEnd(
  stored: StoredTask,
  { sourceHash }: Occurrence,
  { isGone = false, state }: OccurrenceEnd,
  isPersons: boolean,
): { readonly task?: StoredTask; readonly news?: OwnerNews } {
  if (state === "skipped") return {};
  // Somebody who has blocked the bot could not read that a schedule has failed or paused itself.
  if (isGone && isPersons) return {};
  if (state !== "failed") {
    const task = { ...stored, failures: 0, sourceHash: sourceHash ?? stored.sourceHash };
    return stored.failures === 0 ? { task } : { task, news: "recovered" };
  }
  const failures = stored.failures + 1;
  const isPaused = stored.isPaused || failures >= PAUSE_AFTER;
  const task = { ...stored, failures, isPaused };
  if (isPaused && !stored.isPaused) return { task, news: "paused" };
  return failures === 1 ? { task, news: "failing" } : { task };
}
