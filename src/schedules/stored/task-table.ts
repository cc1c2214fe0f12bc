import type { Database } from "../../core/store/database.ts";
import type { Deps } from "../../core/base/deps.ts";
import type { CheckedTask } from "../rules/check-tasks.ts";
import { nextOccurrence } from "../rules/next-occurrence.ts";
import type { ScheduleStore, StoredTask } from "./schedule-store.ts";
import { taskRecord } from "./task-record.ts";
import type { ScheduledTaskRecord } from "./task-record.ts";

export interface TaskTableOptions {
  readonly database: Database;
  readonly deps: Pick<Deps, "clock" | "random">;
  /**
   * Returns the tasks of this object.
   *
   * @throws {ConfigurationError} `scheduled-task-invalid`
   */
  allTasks(): readonly CheckedTask[];
  /** Called when stored work waits. */
  readonly onChange: () => void;
}

/** The tasks of one object, declared ones and those that people have made, and when each of them runs next. */
export class TaskTable {
  readonly #options: TaskTableOptions;
  readonly #store: ScheduleStore;
  /** The declared tasks. Undefined before the first reconciliation, and while the declaration is invalid. */
  #tasks: ReadonlyMap<string, CheckedTask> | undefined;

  constructor(store: ScheduleStore, options: TaskTableOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Whether the tasks are known. They are not before the first reconciliation, and while the declaration is invalid. */
  get isKnown(): boolean {
    return this.#tasks !== undefined;
  }

  /**
   * Makes the stored tasks those of the declaration. A task whose schedule has changed counts from now on; the others
   * keep their next occurrence.
   *
   * @param now the moment from which new and changed tasks count, in epoch milliseconds
   * @throws {ConfigurationError} `scheduled-task-invalid`; nothing is stored then
   */
  reconcile(now: number = this.#options.deps.clock.now()): void {
    this.#tasks = undefined;
    const declared = this.#options.allTasks();
    if (declared.length === 0 && this.#store.isEmpty()) {
      this.#tasks = new Map();
      return;
    }
    const known = new Map(this.#store.tasks().map((task) => [task.id, task]));
    this.#options.database.transaction(() => {
      for (const task of declared) {
        const stored = known.get(task.id);
        const reconciled = this.#reconciled(task, stored, now);
        if (reconciled !== stored) this.#store.saveTask(reconciled);
        known.delete(task.id);
      }
      for (const id of known.keys()) {
        this.#store.removeTask(id);
        // They end with their next step, and somebody may wait for that.
        for (const open of this.#store.openOf(id))
          if (open.nextAt > now) this.#store.saveOccurrence({ ...open, nextAt: now });
      }
    });
    this.#tasks = new Map(declared.map((task) => [task.id, task]));
    if (this.#store.nextAt() !== undefined) this.#options.onChange();
  }

  #reconciled(task: CheckedTask, stored: StoredTask | undefined, now: number): StoredTask {
    if (stored === undefined) {
      const anchor = now;
      const fresh = { runs: 0, failures: 0, isPaused: false, sourceHash: undefined, createdAt: now };
      return { id: task.id, rule: task.rule, anchor, next: this.nextOf(task, now, anchor, 0), ...fresh };
    }
    if (JSON.stringify(stored.rule) !== JSON.stringify(task.rule))
      return { ...stored, rule: task.rule, anchor: now, next: this.nextOf(task, now, now, stored.runs) };
    const isOver = this.#isOver(task, stored.next?.scheduledFor, stored.runs);
    if (isOver) return stored.next === undefined ? stored : { ...stored, next: undefined };
    if (stored.next !== undefined) return stored;
    const next = this.nextOf(task, now, stored.anchor, stored.runs);
    return next === undefined ? stored : { ...stored, next };
  }

  /** Returns the first occurrence of a task after a moment, of which `runs` have been before. */
  nextOf(task: CheckedTask, after: number, anchor: number, runs: number): StoredTask["next"] {
    const scheduledFor = nextOccurrence(task.rule, after, anchor);
    if (scheduledFor === undefined || this.#isOver(task, scheduledFor, runs)) return undefined;
    return { scheduledFor, runAt: scheduledFor + Math.floor(this.#options.deps.random() * task.jitterMs) };
  }

  #isOver({ count, until }: CheckedTask, scheduledFor: number | undefined, runs: number): boolean {
    if (count !== undefined && runs >= count) return true;
    return until !== undefined && scheduledFor !== undefined && scheduledFor > until;
  }

  /** Returns the tasks as the bot's own code sees them, without those that are over. */
  records(): Omit<ScheduledTaskRecord, "isMadeInChat" | "madeBy">[] {
    return [...(this.#tasks?.values() ?? [])]
      .filter(({ id }) => !this.isOver(id))
      .map((task) => taskRecord(task, this.#store.task(task.id), this.upcoming(task.id, 3)));
  }

  /**
   * Stops or continues a task because somebody wants it. Its next occurrence is then the first one after now. Returns
   * `false` if it is unknown.
   */
  pause(taskId: string, isPaused: boolean): boolean {
    const task = this.#tasks?.get(taskId);
    const stored = this.#store.task(taskId);
    if (task === undefined || stored === undefined) return false;
    const now = this.#options.deps.clock.now();
    const next = isPaused ? stored.next : this.nextOf(task, now, stored.anchor, stored.runs);
    this.#store.saveTask({ ...stored, isPaused, next, failures: 0 });
    this.#options.onChange();
    return true;
  }

  /** Leaves out the next occurrence of a task. Returns `false` if it has none. */
  skipNext(taskId: string): boolean {
    const task = this.#tasks?.get(taskId);
    const stored = this.#store.task(taskId);
    if (task === undefined || stored?.next === undefined) return false;
    const next = this.nextOf(task, stored.next.scheduledFor, stored.anchor, stored.runs);
    this.#store.saveTask({ ...stored, next });
    return true;
  }

  /** Whether a task has no occurrence any more, and none that is open. */
  isOver(taskId: string): boolean {
    return this.#store.task(taskId)?.next === undefined && this.#store.openOf(taskId).length === 0;
  }

  /** Returns the next occurrences of a task, in epoch milliseconds. */
  upcoming(taskId: string, count: number): number[] {
    const task = this.#tasks?.get(taskId);
    const stored = this.#store.task(taskId);
    const found: number[] = [];
    for (let at = stored?.next?.scheduledFor; at !== undefined && found.length < count;) {
      found.push(at);
      at = task && stored && nextOccurrence(task.rule, at, stored.anchor);
    }
    return found;
  }

  /** Returns the ids of all tasks that are stored, also of those that are not declared any more. */
  storedIds(): string[] {
    return this.#store.tasks().map(({ id }) => id);
  }

  /** Returns a task. Undefined if it is not declared, or not known yet. */
  get(taskId: string): CheckedTask | undefined {
    return this.#tasks?.get(taskId);
  }

  /** Whether this object never had a task. */
  isEmpty(): boolean {
    return this.#store.isEmpty();
  }

  isPaused(taskId: string): boolean {
    return this.#store.task(taskId)?.isPaused === true;
  }
}
