import type { Occurrence, OwnerNews } from "./occurrence.ts";
import type { StoredTask } from "./schedule-store.ts";
import type { OccurrenceEnd } from "./step-result.ts";

/** A task that failed so often in a row pauses itself. */
const PAUSE_AFTER = 5;

/** The task after the end of an occurrence, and the message that its owner gets. */
export function afterEnd(
  stored: StoredTask,
  { sourceHash }: Occurrence,
  state: OccurrenceEnd["state"],
): { readonly task?: StoredTask; readonly news?: OwnerNews } {
  if (state === "skipped") return {};
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
