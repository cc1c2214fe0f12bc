/** Work that is due later than this is left to the next start of the process. */
const SHORT_MS = 5_000;
/** An entry that is overdue for longer belongs to an object that is gone. */
const FORGOTTEN_AFTER_MS = 30_000;

/**
 * The objects of this process that have something to do within seconds: a turn that runs, a message that is being sent.
 * A server that shall end lets them finish. It is no promise: every work is stored, and a restart continues it.
 */
export class ShortWork {
  readonly #dueAt = new Map<object, number>();

  /** Notes when an object has something to do next. */
  note(object: object, at: number | undefined, now: number): void {
    if (at === undefined || at > now + SHORT_MS) this.#dueAt.delete(object);
    else this.#dueAt.set(object, at);
  }

  /** Returns the number of objects with something to do. */
  count(now: number): number {
    return [...this.#dueAt.values()].filter((at) => at > now - FORGOTTEN_AFTER_MS).length;
  }
}

/** That of this process: all objects of a served bot share it with the worker that answers for them. */
export const shortWork = new ShortWork();
