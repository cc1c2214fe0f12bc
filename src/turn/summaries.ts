import type { createCompactFunction } from "agents/sessions";

type Summarize = ReturnType<typeof createCompactFunction>;
type Summary = Awaited<ReturnType<Summarize>>;

/**
 * Summaries of what was said long ago, by session. The harness waits for its summary in the middle of a turn, so one is
 * made beside the turns and taken by a later one: nobody waits for it, however long the model takes.
 */
export class Summaries {
  readonly #made = new Map<string, NonNullable<Summary>>();
  readonly #making = new Map<string, Promise<void>>();

  /**
   * The summary that has been made since it was asked for last; `null` when there is none yet. A summary of messages
   * that are gone meanwhile is none for the harness.
   */
  take(session: string, summarize: () => Promise<Summary>): Summary {
    const made = this.#made.get(session);
    if (made === undefined) void this.make(session, summarize);
    this.#made.delete(session);
    return made ?? null;
  }

  /** Makes a summary, unless one is being made. Resolves when that has ended, and never rejects. */
  make(session: string, summarize: () => Promise<Summary>): Promise<void> {
    const making = this.#making.get(session) ?? this.#make(session, summarize);
    this.#making.set(session, making);
    return making;
  }

  async #make(session: string, summarize: () => Promise<Summary>): Promise<void> {
    try {
      const summary = await Promise.resolve().then(summarize);
      if (summary !== null) this.#made.set(session, summary);
    } catch {
      // The guard of the model has said why. It is tried again with the next message.
    } finally {
      this.#making.delete(session);
    }
  }
}
