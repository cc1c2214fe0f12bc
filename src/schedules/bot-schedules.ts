import { RpcTarget } from "cloudflare:workers";
import type { OccurrenceFilter, OccurrenceRecord } from "./rules/occurrence.ts";
import type { SchedulesFeature } from "./schedules-feature.ts";
import type { ScheduledTaskRecord } from "./stored/task-record.ts";

/** The scheduled tasks of one object: `this.schedules`, and `stub.schedules` over RPC. */
export class BotSchedules extends RpcTarget {
  readonly #feature: Pick<SchedulesFeature, "change" | "own" | "reconcile">;

  constructor(feature: Pick<SchedulesFeature, "change" | "own" | "reconcile">) {
    super();
    this.#feature = feature;
  }

  /**
   * Returns the tasks, with their next occurrences: those of `getScheduledTasks()`, and those that people have made in
   * this conversation. Tasks that are over are left out.
   */
  list(): Promise<ScheduledTaskRecord[]> {
    return this.#feature.change((own) => own.tasks());
  }

  /**
   * Returns what became of the occurrences, newest first: states, platform message ids, times and codes, never a text.
   * Kept for 90 days.
   *
   * @example await stub.schedules.occurrences({ taskId: "digest", state: "failed" });
   */
  occurrences(filter: OccurrenceFilter = {}): OccurrenceRecord[] {
    return this.#feature.own.list(filter);
  }

  /**
   * Runs a task now, beside its schedule. Resolves with the key of the occurrence when it is durable; undefined if there
   * is no such task.
   *
   * @param scheduledFor time that the task runs as if it were, in epoch milliseconds. @default now
   */
  run(taskId: string, scheduledFor?: number): Promise<string | undefined> {
    return this.#feature.change(({ schedules }) => schedules.runNow(taskId, scheduledFor));
  }

  /** Stops a task until `resume`. Returns `false` if there is no such task. */
  pause(taskId: string): Promise<boolean> {
    return this.#feature.change(({ schedules }) => schedules.tasks.pause(taskId, true));
  }

  /**
   * Continues a task that was paused, or has paused itself, with its first occurrence after now. Returns `false` if there
   * is no such task.
   */
  resume(taskId: string): Promise<boolean> {
    return this.#feature.change(({ schedules }) => schedules.tasks.pause(taskId, false));
  }

  /**
   * Deletes a schedule that somebody has made in this conversation. Returns `false` if no schedule has this id. Declared
   * tasks stay: pause them, or remove them from the code.
   */
  delete(taskId: string): Promise<boolean> {
    return this.#feature.change((own) => own.chat.remove(taskId));
  }

  /**
   * Reads `getScheduledTasks()` again. Call it when data that the method reads has changed. Other schedules of this
   * object stay as they are.
   *
   * @throws {ConfigurationError} `scheduled-task-invalid`, which names the task and the fix. Nothing is stored then.
   */
  reconcile(): Promise<void> {
    return this.#feature.reconcile();
  }
}
